// Prints the return addresses of its stack, innermost first, each less where the program was loaded; 0: in a library.

#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

extern char __executable_start, etext;

static __attribute__((noinline)) void exchange(int n)
{
    void *places[MOST];
    int count = backtrace(places, MOST); /* here: exchange */
    for (int i = 0; i < count; i++) {
        char *place = places[i];
        int own = place >= &__executable_start && place < &etext;
        printf("%lx\n", own ? (unsigned long)(place - &__executable_start) : 0);
    }
    if (n == 77) puts("");
}

static inline __attribute__((always_inline)) void halo(int n)
{
    exchange(n); /* here: halo */
}

static __attribute__((noinline)) int solve(const void *a, const void *b)
{
    halo(a == b); /* here: solve */
    return 0;
}

int main(void)
{
    int values[2] = {1, 2};
    qsort(values, 2, sizeof values[0], solve); /* here: main */
    return 0;
}
