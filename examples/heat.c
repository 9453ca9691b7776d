// Heat conduction on the unit square by explicit finite differences, the square cut into a grid of ranks.
//
// Shows what most grid codes do: a Cartesian communicator, a nonblocking halo exchange in every step and a
// global residual now and then. The initial temperature sin(pi x) sin(pi y) is an eigenvector of the scheme,
// so the exact result after any number of steps is known; the program prints how far it is from it.
//
//     mpicc -O2 heat.c -o heat -lm
//     mpirun -n 4 ./heat --size 512 --steps 200

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    int size;  // interior points in each direction
    int steps; // time steps
    int every; // steps between two residuals
};

// This rank's part of the square: `rows` x `columns` points with one layer of neighbours' points round it.
struct block {
    MPI_Comm grid;
    int up, down, left, right; // neighbours, MPI_PROC_NULL at the edge
    int first_row, first_column;
    int rows, columns;
    double *now, *next;
    MPI_Datatype column;
};

static const double PI = 3.14159265358979323846;
static const double RATIO = 0.2; // dt / h^2; stable below 0.25

static double *at(const struct block *b, double *field, int row, int column)
{
    return field + (size_t)row * (b->columns + 2) + column;
}

static int positive(const char *text, const char *name)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > 1000000) {
        fprintf(stderr, "heat: %s wants a number from 1 to 1000000, not '%s'\n", name, text);
        exit(2);
    }
    return (int)value;
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.size = 256, .steps = 100, .every = 10};
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--size") == 0) {
            o.size = positive(argv[i + 1], argv[i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--steps") == 0) {
            o.steps = positive(argv[i + 1], argv[i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--every") == 0) {
            o.every = positive(argv[i + 1], argv[i]);
        } else {
            fprintf(stderr, "usage: heat [--size POINTS] [--steps STEPS] [--every STEPS]\n");
            exit(2);
        }
    }
    return o;
}

static double initial(int size, int row, int column)
{
    double h = 1.0 / (size + 1);
    return sin(PI * h * row) * sin(PI * h * column);
}

static struct block create_block(int size)
{
    struct block b;
    int ranks, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, place[2];
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &b.grid);
    MPI_Comm_rank(b.grid, &rank);
    MPI_Cart_coords(b.grid, rank, 2, place);
    MPI_Cart_shift(b.grid, 0, 1, &b.up, &b.down);
    MPI_Cart_shift(b.grid, 1, 1, &b.left, &b.right);

    b.first_row = 1 + (int)((long)size * place[0] / dims[0]);
    b.first_column = 1 + (int)((long)size * place[1] / dims[1]);
    b.rows = 1 + (int)((long)size * (place[0] + 1) / dims[0]) - b.first_row;
    b.columns = 1 + (int)((long)size * (place[1] + 1) / dims[1]) - b.first_column;
    size_t points = (size_t)(b.rows + 2) * (b.columns + 2);
    b.now = calloc(points, sizeof *b.now);
    b.next = calloc(points, sizeof *b.next);
    if (!b.now || !b.next) {
        fprintf(stderr, "heat: no memory for %zu points\n", points);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 1; i <= b.rows; i++)
        for (int j = 1; j <= b.columns; j++)
            *at(&b, b.now, i, j) = initial(size, b.first_row + i - 1, b.first_column + j - 1);
    MPI_Type_vector(b.rows, 1, b.columns + 2, MPI_DOUBLE, &b.column);
    MPI_Type_commit(&b.column);
    return b;
}

static void exchange_halo(struct block *b)
{
    MPI_Request requests[8];
    MPI_Irecv(at(b, b->now, 0, 1), b->columns, MPI_DOUBLE, b->up, 0, b->grid, &requests[0]);
    MPI_Irecv(at(b, b->now, b->rows + 1, 1), b->columns, MPI_DOUBLE, b->down, 1, b->grid, &requests[1]);
    MPI_Irecv(at(b, b->now, 1, 0), 1, b->column, b->left, 2, b->grid, &requests[2]);
    MPI_Irecv(at(b, b->now, 1, b->columns + 1), 1, b->column, b->right, 3, b->grid, &requests[3]);
    MPI_Isend(at(b, b->now, b->rows, 1), b->columns, MPI_DOUBLE, b->down, 0, b->grid, &requests[4]);
    MPI_Isend(at(b, b->now, 1, 1), b->columns, MPI_DOUBLE, b->up, 1, b->grid, &requests[5]);
    MPI_Isend(at(b, b->now, 1, b->columns), 1, b->column, b->right, 2, b->grid, &requests[6]);
    MPI_Isend(at(b, b->now, 1, 1), 1, b->column, b->left, 3, b->grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

// One time step; returns the sum of the squared changes in this block.
static double advance(struct block *b)
{
    double change = 0.0;
    for (int i = 1; i <= b->rows; i++) {
        const double *above = at(b, b->now, i - 1, 0), *here = at(b, b->now, i, 0), *below = at(b, b->now, i + 1, 0);
        double *out = at(b, b->next, i, 0);
        for (int j = 1; j <= b->columns; j++) {
            double delta = RATIO * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4.0 * here[j]);
            out[j] = here[j] + delta;
            change += delta * delta;
        }
    }
    double *swap = b->now;
    b->now = b->next;
    b->next = swap;
    return change;
}

// Largest distance from the exact solution of the scheme: the initial field times a power of its eigenvalue.
static double largest_error(struct block *b, struct options o)
{
    double half = sin(PI / (2.0 * (o.size + 1)));
    double decay = pow(1.0 - 8.0 * RATIO * half * half, o.steps), worst = 0.0;
    for (int i = 1; i <= b->rows; i++)
        for (int j = 1; j <= b->columns; j++) {
            double exact = decay * initial(o.size, b->first_row + i - 1, b->first_column + j - 1);
            worst = fmax(worst, fabs(*at(b, b->now, i, j) - exact));
        }
    return worst;
}

static double checksum(struct block *b)
{
    double sum = 0.0;
    for (int i = 1; i <= b->rows; i++)
        for (int j = 1; j <= b->columns; j++) sum += *at(b, b->now, i, j);
    return sum;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    MPI_Init(&argc, &argv);
    struct block b = create_block(o.size);
    double residual = 0.0;
    for (int step = 1; step <= o.steps; step++) {
        exchange_halo(&b);
        double change = advance(&b);
        if (step % o.every == 0 || step == o.steps) MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_SUM, b.grid);
    }

    int rank;
    double local_sum = checksum(&b), local_error = largest_error(&b, o), sum, error;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&local_sum, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&local_error, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d x %d points, %d steps: checksum %.6f, residual %.3e, error %.1e\n", o.size, o.size, o.steps, sum,
               sqrt(residual), error);
    MPI_Type_free(&b.column);
    MPI_Comm_free(&b.grid);
    free(b.now);
    free(b.next);
    MPI_Finalize();
    return error < 1e-10 ? 0 : 1;
}
