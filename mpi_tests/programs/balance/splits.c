/* Reads cases from standard input and prints what tracelib_balance.h makes of them: the shares, and where items go when
   they change. A case: the number of ranks, the items, the speeds of the ranks, and their speeds afterwards. With a
   plan as argument: its speeds at each size that is read, for that number of ranks. */
#include <tracelib_balance.h>

static void print_counts(const long long *counts, int n)
{
    for (int i = 0; i < n; i++) printf("%lld ", counts[i]);
}

static int of_plan(const char *path, int ranks)
{
    double size, speeds[64];
    while (scanf("%lf", &size) == 1) {
        int wrong = tracelib_read_plan(path, size, ranks, speeds);
        if (wrong) return printf("line %d\n", wrong), 0;
        for (int i = 0; i < ranks; i++) printf("%.17g ", speeds[i]);
        printf("\n");
    }
    return 0;
}

int main(int argc, char **argv)
{
    int n;
    long long items, before[64], after[64];
    double speeds[64];
    if (argc > 2) return of_plan(argv[1], atoi(argv[2]));
    while (scanf("%d %lld", &n, &items) == 2) {
        for (int i = 0; i < n; i++)
            if (scanf("%lf", &speeds[i]) != 1) return 1;
        int found = tracelib_split(items, speeds, n, before);
        for (int i = 0; i < n; i++)
            if (scanf("%lf", &speeds[i]) != 1) return 1;
        if (found || tracelib_split(items, speeds, n, after)) {
            printf("wrong\n");
            continue;
        }
        print_counts(before, n);
        for (int rank = 0; rank < n; rank++) {
            int sent[64], received[64];
            tracelib_moves(before, after, n, rank, sent, received);
            for (int i = 0; i < n; i++) printf("%d %d ", sent[i], received[i]);
        }
        printf("\n");
    }
    return 0;
}
