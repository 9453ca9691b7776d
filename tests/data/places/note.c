// note() of whereabouts.c, for whereabouts.f90.

#include <stdio.h>

extern char __executable_start;

void note(int line, const char *function)
{
    printf("%lx %d %s\n", (unsigned long)((char *)__builtin_return_address(0) - &__executable_start), line, function);
    fflush(stdout);
}
