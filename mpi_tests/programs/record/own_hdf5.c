// A program with an HDF5 of its own, which checks what it reads back: `own_hdf5 NAME ROUNDS`.
// Serial HDF5: each rank writes NAME-<rank>-<round>.h5 between its MPI calls, the first before MPI_Init, the last after
// MPI_Finalize, and closes the library each time. Parallel HDF5 (-DPARALLEL): all ranks write NAME-<round>.h5 together.
// The files hold no times: they are the same each time.
//
// HDF5's own MPI_File_* and MPI_Barrier calls come to the program first, which counts them and passes them on as the
// loader would.

#define _GNU_SOURCE
#include "truth.h"
#include <dlfcn.h>
#include <hdf5.h>
#include <unistd.h>

enum { ROWS = 64, COLUMNS = 250 };

static int values[ROWS][COLUMNS];

static void check(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "%s failed\n", what);
    exit(3);
}

static long bytes_of(MPI_Status *status)
{
    int bytes;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    return bytes;
}

#define COUNTED(name, parameters, ...)                                                                                 \
    int name parameters                                                                                                \
    {                                                                                                                  \
        int(*next) parameters = dlsym(RTLD_NEXT, #name);                                                               \
        truth_count(#name);                                                                                            \
        return next(__VA_ARGS__);                                                                                      \
    }

#define MOVED(name, pointer, sent, received)                                                                           \
    int name(MPI_File f, MPI_Offset at, pointer data, int n, MPI_Datatype type, MPI_Status *status)                    \
    {                                                                                                                  \
        int (*next)(MPI_File, MPI_Offset, pointer, int, MPI_Datatype, MPI_Status *) = dlsym(RTLD_NEXT, #name);         \
        truth_count(#name);                                                                                            \
        int result = next(f, at, data, n, type, status);                                                               \
        long moved = bytes_of(status);                                                                                 \
        truth_moved(#name, sent * moved, received * moved);                                                            \
        return result;                                                                                                 \
    }

COUNTED(MPI_Barrier, (MPI_Comm comm), comm)
#ifdef PARALLEL
COUNTED(MPI_File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *f), comm, name, mode, info,
        f)
COUNTED(MPI_File_close, (MPI_File * f), f)
COUNTED(MPI_File_set_size, (MPI_File f, MPI_Offset size), f, size)
COUNTED(MPI_File_get_size, (MPI_File f, MPI_Offset *size), f, size)
COUNTED(MPI_File_sync, (MPI_File f), f)
COUNTED(MPI_File_set_view,
        (MPI_File f, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type, const char *form, MPI_Info info), f, at, unit,
        type, form, info)
MOVED(MPI_File_write_at, const void *, 1, 0)
MOVED(MPI_File_write_at_all, const void *, 1, 0)
MOVED(MPI_File_read_at, void *, 0, 1)
MOVED(MPI_File_read_at_all, void *, 0, 1)
#endif

static int value(int rank, int round, int row, int column)
{
    return ((round * 16 + rank) * ROWS + row) * COLUMNS + column;
}

static hid_t transfer(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
#ifdef PARALLEL
    H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
#endif
    return list;
}

static hid_t access_list(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
#ifdef PARALLEL
    H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL);
#endif
    return list;
}

// The columns of `rank` of `size` in the file, a stripe in each row.
static hid_t stripe(int rank, int size)
{
    hsize_t shape[2] = {ROWS, COLUMNS * size}, start[2] = {0, COLUMNS * (rank % size)}, count[2] = {ROWS, COLUMNS};
    hid_t space = H5Screate_simple(2, shape, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    return space;
}

// Writes a file, opens it again, reads it and compares; each file has `size` stripes, this rank has one of them.
static void one_file(const char *name, int round, int rank, int size)
{
    hsize_t here[2] = {ROWS, COLUMNS};
    hid_t memory = H5Screate_simple(2, here, NULL), space = stripe(rank, size), how = transfer(), list = access_list();
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(create, 0);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) values[r][c] = value(rank, round, r, c);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    check(file >= 0, "H5Fcreate");
    hid_t data = H5Dcreate2(file, "values", H5T_NATIVE_INT, space, H5P_DEFAULT, create, H5P_DEFAULT);
    check(H5Dwrite(data, H5T_NATIVE_INT, memory, space, how, values) >= 0, "H5Dwrite");
    check(H5Dclose(data) >= 0 && H5Fclose(file) >= 0, "closing what was written");
    memset(values, 0xff, sizeof values);
    file = H5Fopen(name, H5F_ACC_RDONLY, list);
    check(file >= 0, "H5Fopen");
    data = H5Dopen2(file, "values", H5P_DEFAULT);
    check(H5Dread(data, H5T_NATIVE_INT, memory, space, how, values) >= 0, "H5Dread");
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) check(values[r][c] == value(rank, round, r, c), "comparing");
    check(H5Dclose(data) >= 0 && H5Fclose(file) >= 0, "closing what was read");
    H5Pclose(create), H5Pclose(how), H5Pclose(list), H5Sclose(space), H5Sclose(memory);
}

static void round_of_files(const char *stem, int round)
{
    char name[256];
#ifdef PARALLEL
    snprintf(name, sizeof name, "%s-%d.h5", stem, round);
    one_file(name, round, truth.rank, truth.size);
#else
    snprintf(name, sizeof name, "%s-%d-%d.h5", stem, truth.rank, round);
    one_file(name, round, truth.rank, 1);
    check(H5close() >= 0, "H5close");
#endif
}

#ifndef PARALLEL
// Before MPI_Init no rank knows its number.
static void early_file(const char *stem)
{
    char name[256];
    snprintf(name, sizeof name, "%s-early-%d.h5", stem, (int)getpid());
    one_file(name, 0, 0, 1);
    check(H5close() >= 0, "H5close");
    check(remove(name) == 0, "removing the early file");
}
#endif

int main(int argc, char **argv)
{
    int rounds = atoi(argv[2]);
    unsigned major, minor, release;
#ifndef PARALLEL
    early_file(argv[1]);
#endif
    MPI_Init(&argc, &argv);
    truth_begin();
    for (int round = 1; round <= rounds; round++) {
        round_of_files(argv[1], round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    truth_write();
    H5get_libversion(&major, &minor, &release);
    MPI_Finalize();
#ifndef PARALLEL
    round_of_files(argv[1], rounds + 1);
#endif
    printf("rank %d: HDF5 %u.%u.%u, %d files as written\n", truth.rank, major, minor, release, rounds);
    return 0;
}
