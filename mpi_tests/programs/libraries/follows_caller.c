/* The results of dlsym and dlopen depend on the caller. -DLIBRARY: a library that defines `answer`, and one in its own
 * DT_RUNPATH, "libbeside.so", that nobody else can find by that name; -DBESIDE is that one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(BESIDE)
int beside(void)
{
    return 3;
}
#elif defined(LIBRARY)
int answer(void)
{
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "answer");
    return next ? -1 : 2; /* the program's is ahead, and nobody's behind */
}
int open_beside(void)
{
    void *handle = dlopen("libbeside.so", RTLD_NOW);
    return handle ? ((int (*)(void))dlsym(handle, "beside"))() : -1;
}
#else
int open_beside(void);
int answer(void)
{
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "answer");
    return next ? 10 + next() : -1;
}
int main(void)
{
    dlerror();
    void *none = dlsym(RTLD_DEFAULT, "MPI_Not_there");
    int failed = dlerror() != NULL;
    void *self = dlopen(NULL, RTLD_NOW);
    void *own = dlsym(self, "answer"), *beside = dlopen("libbeside.so", RTLD_NOW);
    printf("%d %d %d %s\n", answer(), open_beside(), own == (void *)answer,
           failed && !none && !beside ? "absent" : "?");
    return 0;
}
#endif
