// Cost of one read of a clock: `clock tsc|monotonic BATCHES READS`. Prints one line for each batch: nanoseconds a read.

#include "clock/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_counter(int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t ticks = clock_counter();
        __asm__ volatile("" : : "r"(ticks));
    }
}

static void read_monotonic(int n)
{
    for (int i = 0; i < n; i++) {
        int64_t ns = clock_monotonic_ns();
        __asm__ volatile("" : : "r"(ns));
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    void (*work)(int) = strcmp(argv[1], "tsc") == 0 ? read_counter : read_monotonic;
    int batches = atoi(argv[2]), reads = atoi(argv[3]);
    for (int i = 0; i < batches; i++) {
        int64_t start = clock_monotonic_ns();
        work(reads);
        printf("%.3f\n", (double)(clock_monotonic_ns() - start) / reads);
    }
    return 0;
}
