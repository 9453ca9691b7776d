// Parallel HDF5: a dataset written by all ranks, together and each for itself, read back otherwise distributed.

#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 256, COLUMNS = 512 };

static hid_t transfer(H5FD_mpio_xfer_t mode)
{
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(list, mode);
    return list;
}

// A hyperslab of the file's space and the memory's space for it.
static void select_part(hid_t file, const hsize_t *start, const hsize_t *count, hid_t *memory)
{
    H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL);
    *memory = H5Screate_simple(2, count, NULL);
}

static double checksum(const double *data, hsize_t n)
{
    double sum = 0;
    for (hsize_t i = 0; i < n; i++) sum += data[i] * (double)(i % 97 + 1);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate("rows.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t dims[] = {ROWS, COLUMNS}, part = ROWS / size;
    hid_t space = H5Screate_simple(2, dims, NULL), memory;
    double *data = malloc(ROWS * COLUMNS * sizeof *data);
    for (hsize_t i = 0; i < part * COLUMNS; i++) data[i] = rank * 1000.0 + i * 0.5;
    const H5FD_mpio_xfer_t modes[] = {H5FD_MPIO_COLLECTIVE, H5FD_MPIO_INDEPENDENT};
    const char *names[] = {"collective", "independent"};
    hsize_t start[] = {rank * part, 0}, count[] = {part, COLUMNS};
    select_part(space, start, count, &memory);
    for (int i = 0; i < 2; i++) {
        hid_t set = H5Dcreate2(file, names[i], H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        hid_t list = transfer(modes[i]);
        for (int step = 0; step < 10; step++) H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, list, data);
        H5Dclose(set);
        H5Pclose(list);
    }
    H5Sclose(memory);
    H5Fclose(file);

    file = H5Fopen("rows.h5", H5F_ACC_RDONLY, access);
    hsize_t width = COLUMNS / size, from[] = {0, rank * width}, columns[] = {ROWS, width};
    select_part(space, from, columns, &memory);
    for (int i = 0; i < 2; i++) {
        hid_t set = H5Dopen2(file, names[i], H5P_DEFAULT), list = transfer(modes[i]);
        H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, list, data);
        double sum = checksum(data, ROWS * width), all[size];
        MPI_Gather(&sum, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int r = 0; rank == 0 && r < size; r++) printf("result: %s, columns of %d: %.6f\n", names[i], r, all[r]);
        H5Dclose(set);
        H5Pclose(list);
    }
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access);
    free(data);
    MPI_Finalize();
    return 0;
}
