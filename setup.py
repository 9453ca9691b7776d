"""Builds the C parts: `tracelib/libtrace.so` (the runtime) and `analyzer._kernels` (cffi)."""

from setuptools import setup

setup(cffi_modules=["csrc/build_kernels.py:ffi"])
