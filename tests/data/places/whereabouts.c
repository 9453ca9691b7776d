// Notes where it is: for each call of note() its return address, less where the program was loaded, and its own line
// and function. Functions that are inlined, or not.

#include <stdio.h>
#include <stdlib.h>

extern char __executable_start;

__attribute__((noinline)) void note(int line, const char *function)
{
    printf("%lx %d %s\n", (unsigned long)((char *)__builtin_return_address(0) - &__executable_start), line, function);
    fflush(stdout);
}

#define NOTE note(__LINE__, __func__)

static inline int leaf(int x)
{
    NOTE;
    if (x > 2) NOTE;
    return x + 1;
}

static inline __attribute__((always_inline)) int middle(int x)
{
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        sum += leaf(x + i);
        NOTE;
    }
    return sum;
}

static __attribute__((noinline)) int outer(int x)
{
    int sum = middle(x);
    NOTE;
    return sum + leaf(sum);
}

static int rare(int x)
{
    if (__builtin_expect(x == 3, 0)) {
        NOTE;
        if (x > 100) abort();
    }
    return x;
}

int main(int argc, char **argv)
{
    NOTE;
    int sum = outer(argc) + rare(argc) + rare(3);
    NOTE;
    return sum == 77 && argv[0];
}
