// NetCDF-4 in parallel: a variable that grows along time, written by rows, read by columns.

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 8, ROWS = 64, COLUMNS = 128 };

static void check(int status)
{
    if (status == NC_NOERR) return;
    fprintf(stderr, "%s\n", nc_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_field(const char *name, int rank, int size)
{
    int file, dims[3], field, part = ROWS / size;
    float *data = malloc((size_t)part * COLUMNS * sizeof *data);
    check(nc_create_par(name, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    check(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    check(nc_def_dim(file, "y", ROWS, &dims[1]));
    check(nc_def_dim(file, "x", COLUMNS, &dims[2]));
    check(nc_def_var(file, "temperature", NC_FLOAT, 3, dims, &field));
    check(nc_put_att_text(file, field, "units", 1, "K"));
    check(nc_enddef(file));
    check(nc_var_par_access(file, field, NC_COLLECTIVE));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < part * COLUMNS; i++) data[i] = 273 + rank + step * 0.25F + i * 0.001F;
        size_t start[] = {step, rank * part, 0}, count[] = {1, part, COLUMNS};
        check(nc_put_vara_float(file, field, start, count, data));
    }
    check(nc_close(file));
    free(data);
}

static double read_columns(const char *name, int access, int rank, int size)
{
    int file, field, width = COLUMNS / size;
    float *data = malloc((size_t)STEPS * ROWS * width * sizeof *data);
    check(nc_open_par(name, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    check(nc_inq_varid(file, "temperature", &field));
    check(nc_var_par_access(file, field, access));
    size_t start[] = {0, 0, rank * width}, count[] = {STEPS, ROWS, width};
    check(nc_get_vara_float(file, field, start, count, data));
    check(nc_close(file));
    double sum = 0;
    for (int i = 0; i < STEPS * ROWS * width; i++) sum += data[i] * (i % 89 + 1.0);
    free(data);
    return sum;
}

int main(int argc, char **argv)
{
    const int accesses[] = {NC_COLLECTIVE, NC_INDEPENDENT};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    write_field("field.nc", rank, size);
    for (int i = 0; i < 2; i++) {
        double sum = read_columns("field.nc", accesses[i], rank, size), all[size];
        MPI_Gather(&sum, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int r = 0; rank == 0 && r < size; r++) printf("result: reading %d, columns of %d: %.6f\n", i, r, all[r]);
    }
    MPI_Finalize();
    return 0;
}
