// The integral equation u(t) = 1 + integral from 0 to t of (t - s) u(s) ds by iteration: unbalanced on purpose.
//
// A point t costs as much as there are points before it. Each rank gets a block of neighbouring points, as many as
// every other rank, so the last rank computes longest and the others wait for it. A trace shows it at once; --cyclic
// deals the points out one by one and mends it. The solution is cosh(t); the program prints how far it is from it.
//
//     mpicc -O2 volterra.c -o volterra -lm
//     mpirun -n 2 ./volterra --points 20000 --steps 60

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    int points; // of the interval [0, 1]
    int steps;  // iterations
    int cyclic; // rank r has the points r, r + ranks, ... instead of a block
};

// The points first, first + stride, ... below last.
struct share {
    int first, last, stride;
};

static int positive(const char *text, const char *name)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 2 || value > 1000000) {
        fprintf(stderr, "volterra: %s wants a number from 2 to 1000000, not '%s'\n", name, text);
        exit(2);
    }
    return (int)value;
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.points = 20000, .steps = 60};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cyclic") == 0) {
            o.cyclic = 1;
        } else if (i + 1 < argc && strcmp(argv[i], "--points") == 0) {
            o.points = positive(argv[i + 1], argv[i]);
            i++;
        } else if (i + 1 < argc && strcmp(argv[i], "--steps") == 0) {
            o.steps = positive(argv[i + 1], argv[i]);
            i++;
        } else {
            fprintf(stderr, "usage: volterra [--points POINTS] [--steps STEPS] [--cyclic]\n");
            exit(2);
        }
    }
    return o;
}

static struct share share_of(struct options o, int rank, int ranks)
{
    if (o.cyclic) return (struct share){rank, o.points, ranks};
    int first = (int)((long)o.points * rank / ranks), last = (int)((long)o.points * (rank + 1) / ranks);
    return (struct share){first, last, 1};
}

// The integral up to the given point, by the trapezoidal rule: at s = t the integrand is 0.
static double integral(const double *u, int point, double h)
{
    double sum = 0.5 * point * u[0];
    for (int i = 1; i < point; i++) sum += (point - i) * u[i];
    return h * h * sum;
}

static void iterate(struct options o, struct share mine, const double *u, double *next)
{
    double h = 1.0 / (o.points - 1);
    memset(next, 0, sizeof *next * (size_t)o.points); // other ranks' points: the sum over the ranks fills them in
    for (int point = mine.first; point < mine.last; point += mine.stride) next[point] = 1.0 + integral(u, point, h);
}

static double largest_error(struct options o, const double *u)
{
    double worst = 0.0;
    for (int i = 0; i < o.points; i++) worst = fmax(worst, fabs(u[i] - cosh((double)i / (o.points - 1))));
    return worst;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *u = calloc((size_t)o.points, sizeof *u), *next = malloc((size_t)o.points * sizeof *next);
    if (!u || !next) {
        fprintf(stderr, "volterra: no memory for %d points\n", o.points);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    struct share mine = share_of(o, rank, ranks);
    for (int step = 0; step < o.steps; step++) {
        iterate(o, mine, u, next);
        MPI_Allreduce(next, u, o.points, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    double error = largest_error(o, u);
    if (rank == 0) printf("%d points, %d steps: u(1) = %.9f, error %.1e\n", o.points, o.steps, u[o.points - 1], error);
    free(u);
    free(next);
    MPI_Finalize();
    return error < 1.0 / o.points ? 0 : 1;
}
