// Every call on a file. Beside each call stands what it does: which file, where in it, bytes. The file is shared by
// all ranks, each of which has BLOCK ints of it in every round.

#include "truth.h"

enum { FILE_KIND = 2, READ_DONE = 13, WRITE_DONE = 14, BLOCK = 8, MANY = 1024 };
enum { CREATE = 2, DELETE_ON_CLOSE = 4, RDONLY = 16, RDWR = 32, SEQUENTIAL = 64 };

static const long INT = sizeof(int), BYTES = BLOCK * sizeof(int);
static int out[MANY], in[MANY], file; // file: number of the open one
static MPI_Request request;
static int icollectives; // argument "romio": without these, in which ROMIO inside Open MPI crashes

#define ON(offset, sent, received, name, ...)                                                                          \
    do {                                                                                                               \
        CALL(name, __VA_ARGS__);                                                                                       \
        truth_access(#name, file, offset, 0, -1, sent, received);                                                      \
    } while (0)
#define AT(offset, name, ...) ON(offset, 0, 0, name, __VA_ARGS__)

static void complete(int what, long bytes)
{
    int flag = 0;
    if (truth.rank % 2)
        CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    else
        while (!flag) CALL(MPI_Test, &request, &flag, MPI_STATUS_IGNORE);
    truth_done(what, bytes);
}

static MPI_File open_file(MPI_Comm comm, const char *name, int amode, int canonical)
{
    MPI_File fh;
    CALL(MPI_File_open, comm, name, amode, MPI_INFO_NULL, &fh);
    file = truth_object(comm, FILE_KIND, 0, 0, canonical, name);
    truth_access("MPI_File_open", file, -1, 0, -1, 0, 0);
    return fh;
}

static void explicit_offsets(MPI_File fh)
{
    long mine = truth.rank * BYTES;
    ON(mine, BYTES, 0, MPI_File_write_at, fh, mine, out, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    ON(mine, BYTES, 0, MPI_File_write_at_all, fh, mine, out, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    AT(-1, MPI_File_sync, fh);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    AT(-1, MPI_File_sync, fh);
    ON(mine, 0, BYTES, MPI_File_read_at, fh, mine, in, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    ON(mine, 0, BYTES, MPI_File_read_at_all, fh, mine, in, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    // The file ends: fewer bytes than asked for.
    long last = truth.size * BYTES - INT;
    ON(last, 0, INT, MPI_File_read_at, fh, last, in, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
#ifndef OPEN_MPI // whose own I/O never completes such a request
    AT(last, MPI_File_iread_at, fh, last, in, BLOCK, MPI_INT, &request);
    complete(READ_DONE, INT);
#endif
    AT(mine, MPI_File_iread_at, fh, mine, in, BLOCK, MPI_INT, &request);
    complete(READ_DONE, BYTES);
    ON(mine, BYTES, 0, MPI_File_iwrite_at, fh, mine, out, BLOCK, MPI_INT, &request);
    complete(WRITE_DONE, BYTES);
    if (icollectives) {
        ON(mine, BYTES, 0, MPI_File_iwrite_at_all, fh, mine, out, BLOCK, MPI_INT, &request);
        complete(WRITE_DONE, BYTES);
        CALL(MPI_Barrier, MPI_COMM_WORLD);
        AT(mine, MPI_File_iread_at_all, fh, mine, in, BLOCK, MPI_INT, &request);
        complete(READ_DONE, BYTES);
    }
    AT(mine, MPI_File_write_at_all_begin, fh, mine, out, BLOCK, MPI_INT);
    ON(mine, BYTES, 0, MPI_File_write_at_all_end, fh, out, MPI_STATUS_IGNORE);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    AT(mine, MPI_File_read_at_all_begin, fh, mine, in, BLOCK, MPI_INT);
    ON(mine, 0, BYTES, MPI_File_read_at_all_end, fh, in, MPI_STATUS_IGNORE);
}

static void individual_pointers(MPI_File fh)
{
    long mine = truth.rank * BYTES;
    MPI_Offset position;
    AT(mine, MPI_File_seek, fh, mine, MPI_SEEK_SET);
    ON(mine, INT, 0, MPI_File_write, fh, out, 1, MPI_INT, MPI_STATUS_IGNORE);
    ON(mine + INT, INT, 0, MPI_File_write_all, fh, out, 1, MPI_INT, MPI_STATUS_IGNORE);
    ON(mine + 2 * INT, INT, 0, MPI_File_iwrite, fh, out, 1, MPI_INT, &request);
    complete(WRITE_DONE, INT);
    if (icollectives) {
        ON(mine + 3 * INT, INT, 0, MPI_File_iwrite_all, fh, out, 1, MPI_INT, &request);
        complete(WRITE_DONE, INT);
    } else {
        ON(mine + 3 * INT, INT, 0, MPI_File_write, fh, out, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    AT(mine + 4 * INT, MPI_File_write_all_begin, fh, out, 4, MPI_INT);
    ON(mine + 4 * INT, 4 * INT, 0, MPI_File_write_all_end, fh, out, MPI_STATUS_IGNORE);
    AT(-1, MPI_File_get_position, fh, &position);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    AT(mine, MPI_File_seek, fh, -BYTES, MPI_SEEK_CUR);
    ON(mine, 0, INT, MPI_File_read, fh, in, 1, MPI_INT, MPI_STATUS_IGNORE);
    ON(mine + INT, 0, INT, MPI_File_read_all, fh, in, 1, MPI_INT, MPI_STATUS_IGNORE);
    AT(mine + 2 * INT, MPI_File_iread, fh, in, 1, MPI_INT, &request);
    complete(READ_DONE, INT);
    if (icollectives) {
        AT(mine + 3 * INT, MPI_File_iread_all, fh, in, 1, MPI_INT, &request);
        complete(READ_DONE, INT);
    } else {
        ON(mine + 3 * INT, 0, INT, MPI_File_read, fh, in, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    AT(mine + 4 * INT, MPI_File_read_all_begin, fh, in, 4, MPI_INT);
    ON(mine + 4 * INT, 0, 4 * INT, MPI_File_read_all_end, fh, in, MPI_STATUS_IGNORE);
}

static void shared_pointers(MPI_File fh)
{
    MPI_Offset position;
    AT(-1, MPI_File_seek_shared, fh, 0, MPI_SEEK_SET);
    ON(-1, BYTES, 0, MPI_File_write_shared, fh, out, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    AT(-1, MPI_File_seek_shared, fh, 0, MPI_SEEK_SET);
    ON(-1, BYTES, 0, MPI_File_iwrite_shared, fh, out, BLOCK, MPI_INT, &request);
    complete(WRITE_DONE, BYTES);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    AT(-1, MPI_File_seek_shared, fh, 0, MPI_SEEK_SET);
    ON(-1, 0, BYTES, MPI_File_read_shared, fh, in, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    AT(-1, MPI_File_seek_shared, fh, 0, MPI_SEEK_SET);
    AT(-1, MPI_File_iread_shared, fh, in, BLOCK, MPI_INT, &request);
    complete(READ_DONE, BYTES);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    AT(-1, MPI_File_seek_shared, fh, 0, MPI_SEEK_SET);
    ON(-1, BYTES, 0, MPI_File_write_ordered, fh, out, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    AT(-1, MPI_File_get_position_shared, fh, &position);
    AT(-1, MPI_File_seek_shared, fh, 0, MPI_SEEK_SET);
    ON(-1, 0, BYTES, MPI_File_read_ordered, fh, in, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    AT(-1, MPI_File_seek_shared, fh, 0, MPI_SEEK_SET);
    AT(-1, MPI_File_write_ordered_begin, fh, out, BLOCK, MPI_INT);
    ON(-1, BYTES, 0, MPI_File_write_ordered_end, fh, out, MPI_STATUS_IGNORE);
    AT(-1, MPI_File_seek_shared, fh, 0, MPI_SEEK_SET);
    AT(-1, MPI_File_read_ordered_begin, fh, in, BLOCK, MPI_INT);
    ON(-1, 0, BYTES, MPI_File_read_ordered_end, fh, in, MPI_STATUS_IGNORE);
}

// The view of rank r: from byte 40 on, of each group of as many ints as there are ranks, the r-th. Then one without
// holes: from byte 16 on, doubles.
static void views(MPI_File fh)
{
    MPI_Datatype one, strided;
    MPI_Offset bytes;
    long first = 40 + truth.rank * INT, stride = truth.size * INT;
    CALL(MPI_Type_create_resized, MPI_INT, 0, truth.size * INT, &strided);
    CALL(MPI_Type_commit, &strided);
    AT(first, MPI_File_set_view, fh, first, MPI_INT, strided, "native", MPI_INFO_NULL);
    ON(first, 3 * INT, 0, MPI_File_write_all, fh, out, 3, MPI_INT, MPI_STATUS_IGNORE);
    ON(first + 3 * stride, INT, 0, MPI_File_write, fh, out, 1, MPI_INT, MPI_STATUS_IGNORE);
    ON(first + 2 * stride, 0, INT, MPI_File_read_at, fh, 2, in, 1, MPI_INT, MPI_STATUS_IGNORE);
    AT(first + 5 * stride, MPI_File_get_byte_offset, fh, 5, &bytes);
    CALL(MPI_Type_free, &strided);
    AT(16, MPI_File_set_view, fh, 16, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    ON(16 + 3 * 8, 0, 16, MPI_File_read_at, fh, 3, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
    AT(16 + 8, MPI_File_seek, fh, 1, MPI_SEEK_SET);
    ON(16 + 8, 0, 8, MPI_File_read, fh, in, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    AT(0, MPI_File_set_view, fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

static void queries(MPI_File fh)
{
    MPI_Offset bytes, disp;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype etype, filetype;
    MPI_Aint extent;
    char name[MPI_MAX_DATAREP_STRING];
    int value;
    AT(MANY * INT, MPI_File_set_size, fh, MANY * INT);
    AT(2 * MANY * INT, MPI_File_preallocate, fh, 2 * MANY * INT);
    AT(-1, MPI_File_get_size, fh, &bytes);
    AT(-1, MPI_File_get_amode, fh, &value);
    AT(-1, MPI_File_get_group, fh, &group);
    CALL(MPI_Group_free, &group);
    AT(-1, MPI_File_get_info, fh, &info);
    AT(-1, MPI_File_set_info, fh, info);
    CALL(MPI_Info_free, &info);
    AT(-1, MPI_File_get_view, fh, &disp, &etype, &filetype, name);
    AT(-1, MPI_File_get_type_extent, fh, MPI_INT, &extent);
    AT(-1, MPI_File_set_atomicity, fh, 0);
    AT(-1, MPI_File_get_atomicity, fh, &value);
}

static int handled;

static void handler(MPI_File *fh, int *code, ...)
{
    (void)fh;
    handled += *code == MPI_ERR_OTHER;
}

static void error_handlers(MPI_File fh)
{
    MPI_Errhandler own, found;
    int before = handled;
    CALL(MPI_File_create_errhandler, handler, &own);
    AT(-1, MPI_File_set_errhandler, fh, own);
    AT(-1, MPI_File_get_errhandler, fh, &found);
    AT(-1, MPI_File_call_errhandler, fh, MPI_ERR_OTHER);
    if (handled != before + 1) truth_fail("the handler was not called once");
    CALL(MPI_Errhandler_free, &found);
    CALL(MPI_Errhandler_free, &own);
#if MPI_VERSION >= 5
    AT(-1, MPI_File_toint, fh);
#endif
}

static void close_file(MPI_File *fh)
{
    AT(-1, MPI_File_close, fh);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    icollectives = argc == 1;
    char own[64];
    snprintf(own, sizeof own, "own-%d.dat", truth.rank);
    for (int round = 0; round < 2; round++) { // handles are used again
        MPI_File fh = open_file(MPI_COMM_WORLD, "shared.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, CREATE | RDWR);
        explicit_offsets(fh);
        individual_pointers(fh);
        shared_pointers(fh);
        views(fh);
        queries(fh);
        error_handlers(fh);
        close_file(&fh);
        fh = open_file(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                       CREATE | RDWR | DELETE_ON_CLOSE);
        ON(0, MANY * INT, 0, MPI_File_write, fh, out, MANY, MPI_INT, MPI_STATUS_IGNORE);
        close_file(&fh);
        fh = open_file(MPI_COMM_WORLD, "shared.dat", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, RDONLY | SEQUENTIAL);
        ON(-1, 0, BYTES, MPI_File_read_shared, fh, in, BLOCK, MPI_INT, MPI_STATUS_IGNORE);
        close_file(&fh);
        CALL(MPI_Barrier, MPI_COMM_WORLD);
        if (truth.rank == 0) CALL(MPI_File_delete, "shared.dat", MPI_INFO_NULL);
        CALL(MPI_Barrier, MPI_COMM_WORLD);
    }
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
