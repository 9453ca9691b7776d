// The Mandelbrot set by a master who hands out rows and workers who ask for more: unbalanced on purpose.
//
// Rows through the middle of the set cost a hundred times those at its edge, and the rows are handed out in blocks
// (--block), so that whoever draws the middle works while the others wait. A trace shows it at once; --block 1
// mends it. The number of points in the set does not depend on the ranks and is printed.
//
//     mpicc -O2 master_worker.c -o master_worker
//     mpirun -n 4 ./master_worker --size 800 --block 100

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 2000, TAG_WORK = 1, TAG_STOP = 2, TAG_RESULT = 3 };

struct options {
    int size;  // points in each direction
    int block; // rows handed out at a time
};

static int positive(const char *text, const char *name)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > 100000) {
        fprintf(stderr, "master_worker: %s wants a number from 1 to 100000, not '%s'\n", name, text);
        exit(2);
    }
    return (int)value;
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.size = 400, .block = 50};
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--size") == 0) {
            o.size = positive(argv[i + 1], argv[i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--block") == 0) {
            o.block = positive(argv[i + 1], argv[i]);
        } else {
            fprintf(stderr, "usage: master_worker [--size POINTS] [--block ROWS]\n");
            exit(2);
        }
    }
    return o;
}

// Whether z -> z^2 + c stays bounded for MOST_STEPS steps.
static int in_set(double real, double imaginary)
{
    double x = 0.0, y = 0.0;
    for (int i = 0; i < MOST_STEPS; i++) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4.0) return 0;
        y = 2.0 * x * y + imaginary;
        x = xx - yy + real;
    }
    return 1;
}

// Points of the set in the rows [first, first + block) of the square [-2, 1] x [-1.5, 1.5].
static long count_rows(struct options o, int first)
{
    long count = 0;
    int last = first + o.block < o.size ? first + o.block : o.size;
    for (int row = first; row < last; row++)
        for (int column = 0; column < o.size; column++)
            count += in_set(-2.0 + 3.0 * (column + 0.5) / o.size, -1.5 + 3.0 * (row + 0.5) / o.size);
    return count;
}

// Answers whoever asks: with the next block, or with the end when there is none.
static long be_master(struct options o, int workers)
{
    long total = 0;
    for (int next = 0; workers > 0;) {
        long count;
        MPI_Status status;
        MPI_Recv(&count, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        total += count;
        int tag = next < o.size ? TAG_WORK : TAG_STOP;
        MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD);
        next += o.block;
        workers -= tag == TAG_STOP;
    }
    return total;
}

static void be_worker(struct options o)
{
    long count = 0; // the first message asks only
    for (;;) {
        int first;
        MPI_Status status;
        MPI_Send(&count, 1, MPI_LONG, 0, TAG_RESULT, MPI_COMM_WORLD);
        MPI_Recv(&first, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_STOP) return;
        count = count_rows(o, first);
    }
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "master_worker: wants at least 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0) {
        long total = be_master(o, size - 1);
        printf("%d x %d points: %ld in the set, area %.4f\n", o.size, o.size, total, 9.0 * total / o.size / o.size);
    } else {
        be_worker(o);
    }
    MPI_Finalize();
    return 0;
}
