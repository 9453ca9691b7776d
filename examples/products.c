// Two parallel products of matrices, Z = X Y in single precision: each rank has a block of rows of X and all of Y.
//
// A gathers the result once, B one row of each rank at a time (Rodriguez 2011, section 5.3.1, Fig. 5.23). The pragmas
// mark two experiments for `tracelib call`, the product and each row of it; other compilers ignore them. The numbers
// are small integers, so that the sum of all elements is known exactly; exit code 1 if it is wrong.
//
//     tracelib call products.c && mpicc -O2 -I $(tracelib lib --include) products.cll.c -o products
//     mpirun -n 2 ./products A 240

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma cll parallel MPI

struct block {
    int n, rows, first; // of the matrices; of this rank
    float *x, *y, *z;   // rows x n, n x n, rows x n
};

static float x_at(int i, int k)
{
    return (float)((i + 2 * k) % 5);
}

static float y_at(int k, int j)
{
    return (float)((3 * k + j) % 7);
}

// A row of the result. A function of its own, so that what is counted by function is that of the product.
__attribute__((noinline)) void product_row(const struct block *b, int row)
{
    int n = b->n;
#pragma cll rows CLOCK = rows[0] * n
    for (int j = 0; j < n; j++) {
        float sum = 0;
        for (int k = 0; k < n; k++) sum += b->x[(size_t)row * n + k] * b->y[(size_t)k * n + j];
        b->z[(size_t)row * n + j] = sum;
    }
#pragma cll end rows
}

static void version_a(const struct block *b, float *whole)
{
    for (int row = 0; row < b->rows; row++) product_row(b, row);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Gather(b->z, b->rows * b->n, MPI_FLOAT, whole, b->rows * b->n, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Row r of each rank goes to rows r, r + rows, ... of the result: gathered beside each other, then put in place.
static void version_b(const struct block *b, float *whole, int ranks, float *gathered)
{
    for (int row = 0; row < b->rows; row++) {
        product_row(b, row);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Gather(b->z + (size_t)row * b->n, b->n, MPI_FLOAT, gathered, b->n, MPI_FLOAT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int from = 0; whole && from < ranks; from++)
            memcpy(whole + ((size_t)from * b->rows + row) * b->n, gathered + (size_t)from * b->n,
                   sizeof(float) * (size_t)b->n);
    }
}

// Sum over k of (column k of X summed) (row k of Y summed).
static long long expected(int n)
{
    long long sum = 0;
    for (int k = 0; k < n; k++) {
        long long of_x = 0, of_y = 0;
        for (int i = 0; i < n; i++) {
            of_x += (long long)x_at(i, k);
            of_y += (long long)y_at(k, i);
        }
        sum += of_x * of_y;
    }
    return sum;
}

static float *floats(size_t count)
{
    float *found = calloc(count, sizeof(float));
    if (found) return found;
    fprintf(stderr, "products: no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

int main(int argc, char **argv)
{
    int rank, p, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int n = argc > 2 ? atoi(argv[2]) : 0, times = argc > 3 ? atoi(argv[3]) : 1;
    char version = argc > 1 ? argv[1][0] : ' ';
    if ((version != 'A' && version != 'B') || n < p || n % p || n > 20000 || times < 1) {
        if (!rank)
            fprintf(stderr, "products: wants A or B, a size that the ranks divide, and perhaps a number of times\n");
        MPI_Finalize();
        return 2;
    }
    size_t size = (size_t)n;
    struct block b = {.n = n, .rows = n / p, .first = rank * (n / p)};
    b.x = floats(size * (size_t)b.rows), b.y = floats(size * size), b.z = floats(size * (size_t)b.rows);
    float *whole = rank ? NULL : floats(size * size), *gathered = rank ? NULL : floats(size * (size_t)p);
    for (int i = 0; i < b.rows; i++)
        for (int k = 0; k < n; k++) b.x[size * (size_t)i + (size_t)k] = x_at(b.first + i, k);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) b.y[size * (size_t)k + (size_t)j] = y_at(k, j);
    for (int time = 0; time < times; time++) {
#pragma cll product CLOCK = product[0] * n * p
        if (version == 'A') {
            version_a(&b, whole);
        } else {
            version_b(&b, whole, p, gathered);
        }
#pragma cll end product
    }
#pragma cll report product
    if (!rank) {
        long long sum = 0;
        for (size_t i = 0; i < size * size; i++) sum += (long long)whole[i];
        wrong = sum != expected(n);
        printf("%c n=%d p=%d sum=%lld%s\n", version, n, p, sum, wrong ? ", which is wrong" : "");
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(b.x), free(b.y), free(b.z), free(whole), free(gathered);
    MPI_Finalize();
    return wrong;
}
