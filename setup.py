"""Builds the C parts: the runtime `tracelib/libtrace.so`, and the cffi modules of both packages."""

import sys
import sysconfig
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).resolve().parent))

from csrc import build_runtime


class BuildC(build_ext):
    """The cffi modules, then the runtime beside the package that hands it out."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.inplace:  # pip and make build in the same folders, so that the second one compiles nothing anew
            self.build_temp, self.build_lib = "build/in-place/temp", "build/in-place/lib"

    def run(self) -> None:
        super().run()
        package = Path("tracelib") if self.inplace else Path(self.build_lib) / "tracelib"
        build_runtime.build_if_stale(package / "libtrace.so")


# cffi keeps to the stable interface of CPython, except where that has none: without the global lock.
one_for_all = {} if sysconfig.get_config_var("Py_GIL_DISABLED") else {"py_limited_api": "cp311"}

setup(
    cffi_modules=[f"csrc/build_{name}.py:ffi" for name in ("kernels", "replay", "functions", "ngmpi")],
    cmdclass={"build_ext": BuildC},
    options={"bdist_wheel": one_for_all},
)
