// A program that opens libmpi, or the library it is told, while it runs and takes its functions from there.
// -DVERSIONED: by a dlsym that no library can stand in front of.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#ifdef VERSIONED
#define dlsym(handle, name)                                                                                            \
    ((void *(*)(void *, const char *))dlvsym(dlopen("libc.so.6", RTLD_NOW), "dlsym", "GLIBC_2.34"))(handle, name)
#endif

int main(int argc, char **argv)
{
    void *mpi = dlopen(argc > 1 ? argv[1] : "libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (!mpi) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(mpi, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
    return init(&argc, &argv) || finalize();
}
