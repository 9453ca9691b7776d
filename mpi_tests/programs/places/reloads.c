/* Opens each of the libraries that it is given (reloaded.c), computes 40 ms in it and 40 ms itself. "close": closes
 * each before it computes itself, and takes all of them four times. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "for_a_while.h"

static void __attribute__((noinline)) compute_at_home(void)
{
    for_a_while(0.04);
}

int main(int argc, char **argv)
{
    int closes = strcmp(argv[1], "close") == 0;
    for (int round = 0; round < (closes ? 4 : 1); round++)
        for (int i = 2; i < argc; i++) {
            void *library = dlopen(argv[i], RTLD_NOW);
            if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
            ((void (*)(void))dlsym(library, "compute_away"))();
            if (closes && dlclose(library)) return 1;
            compute_at_home();
        }
    return 0;
}
