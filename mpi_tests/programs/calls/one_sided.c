// Every one-sided call: windows of each flavour, operations with and without request, each kind of synchronization.
//
// Beside each call stands what it does: which window, where in it, lock and assertion, target, bytes. Everybody works
// on the window of his right-hand neighbour.

#include "truth.h"

enum { WINDOW = 1, CREATE = 1, ALLOCATE, DYNAMIC, SHARED, NONE = -1, RMA_DONE = 12 };
enum {
    EXCLUSIVE = 1,
    SHARED_LOCK = 2,
    NOCHECK = 1024,
    NOPRECEDE = 2048,
    NOPUT = 4096,
    NOSTORE = 8192,
    NOSUCCEED = 16384,
    HAS_GROUP = 4
};
enum { N = 64 };

static const long INT = sizeof(int), DOUBLE = sizeof(double);
static int out[N], in[N], next, previous;

// A call on window `object` that moves `sent` and `received` bytes at `offset` of the window of `peer`.
#define ON(object, offset, detail, peer, sent, received, name, ...)                                                    \
    do {                                                                                                               \
        CALL(name, __VA_ARGS__);                                                                                       \
        truth_access(#name, object, offset, detail, peer, sent, received);                                             \
    } while (0)
#define SYNC(object, detail, peer, name, ...) ON(object, -1, detail, peer, 0, 0, name, __VA_ARGS__)
// One with a group, whose members are the bits of `members`.
#define GROUPED(object, members, detail, name, ...)                                                                    \
    ON(object, members, (detail) | HAS_GROUP, NONE, 0, 0, name, __VA_ARGS__)

static void fences(void)
{
    MPI_Win win;
    MPI_Datatype every_other;
    double *memory = calloc(N, sizeof *memory);
    CALL(MPI_Win_create, memory, N * DOUBLE, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    int w = truth_object(MPI_COMM_WORLD, WINDOW, N * DOUBLE, sizeof(double), CREATE, "");
    truth_access("MPI_Win_create", w, -1, 0, NONE, 0, 0);
    CALL(MPI_Type_vector, 4, 1, 2, MPI_INT, &every_other);
    CALL(MPI_Type_commit, &every_other);
    SYNC(w, NOPRECEDE, NONE, MPI_Win_fence, MPI_MODE_NOPRECEDE, win);
    ON(w, 3 * DOUBLE, 0, next, 5 * INT, 0, MPI_Put, out, 5, MPI_INT, next, 3, 5, MPI_INT, win);
    ON(w, 6 * DOUBLE, 0, next, 4 * INT, 0, MPI_Put, out, 1, every_other, next, 6, 4, MPI_INT, win);
    ON(w, -1, 0, -2, 0, 0, MPI_Put, out, 5, MPI_INT, MPI_PROC_NULL, 3, 5, MPI_INT, win);
    SYNC(w, 0, NONE, MPI_Win_fence, 0, win);
    ON(w, 0, 0, next, 0, 7 * INT, MPI_Get, in, 7, MPI_INT, next, 0, 7, MPI_INT, win);
    ON(w, 16 * DOUBLE, 0, previous, 2 * INT, 0, MPI_Accumulate, out, 2, MPI_INT, previous, 16, 2, MPI_INT, MPI_SUM,
       win);
    SYNC(w, NOSTORE | NOPUT | NOSUCCEED, NONE, MPI_Win_fence, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED,
         win);
    CALL(MPI_Type_free, &every_other);
    SYNC(w, 0, NONE, MPI_Win_free, &win);
    free(memory);
}

static void locks(void)
{
    MPI_Win win;
    MPI_Comm comm;
    int *memory, *attribute, flag, one = 1, two = 2, result;
    MPI_Group group;
    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &comm);
    CALL(MPI_Win_allocate, N * INT, sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    int w = truth_object(comm, WINDOW, N * INT, sizeof(int), ALLOCATE, "");
    truth_access("MPI_Win_allocate", w, -1, 0, NONE, 0, 0);
    SYNC(w, 0, NONE, MPI_Win_set_name, win, "numbers");
    SYNC(w, 0, NONE, MPI_Win_get_attr, win, MPI_WIN_BASE, &attribute, &flag);
    SYNC(w, 0, NONE, MPI_Win_get_group, win, &group);
    CALL(MPI_Group_free, &group);
    SYNC(w, EXCLUSIVE, next, MPI_Win_lock, MPI_LOCK_EXCLUSIVE, next, 0, win);
    ON(w, 4 * INT, 0, next, 3 * INT, 3 * INT, MPI_Get_accumulate, out, 3, MPI_INT, in, 3, MPI_INT, next, 4, 3, MPI_INT,
       MPI_SUM, win);
    ON(w, 4 * INT, 0, next, 0, 3 * INT, MPI_Get_accumulate, NULL, 0, MPI_INT, in, 3, MPI_INT, next, 4, 3, MPI_INT,
       MPI_NO_OP, win);
    ON(w, 8 * INT, 0, next, INT, INT, MPI_Fetch_and_op, &one, &result, MPI_INT, next, 8, MPI_SUM, win);
    ON(w, 8 * INT, 0, next, 0, INT, MPI_Fetch_and_op, NULL, &result, MPI_INT, next, 8, MPI_NO_OP, win);
    ON(w, 9 * INT, 0, next, INT, INT, MPI_Compare_and_swap, &one, &two, &result, MPI_INT, next, 9, win);
    SYNC(w, 0, next, MPI_Win_flush, next, win);
    SYNC(w, 0, next, MPI_Win_flush_local, next, win);
    SYNC(w, 0, next, MPI_Win_unlock, next, win);
    CALL(MPI_Barrier, comm);
    SYNC(w, SHARED_LOCK | NOCHECK, previous, MPI_Win_lock, MPI_LOCK_SHARED, previous, MPI_MODE_NOCHECK, win);
    ON(w, 0, 0, previous, 0, INT, MPI_Get, in, 1, MPI_INT, previous, 0, 1, MPI_INT, win);
    SYNC(w, 0, previous, MPI_Win_unlock, previous, win);
    CALL(MPI_Barrier, comm);
    SYNC(w, 0, NONE, MPI_Win_free, &win);
    CALL(MPI_Comm_free, &comm);
}

static void requests(void)
{
    MPI_Win win;
    MPI_Request request, several[3];
    int *memory, flag = 0;
    CALL(MPI_Win_allocate, N * INT, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int w = truth_object(MPI_COMM_WORLD, WINDOW, N * INT, sizeof(int), ALLOCATE, "");
    truth_access("MPI_Win_allocate", w, -1, 0, NONE, 0, 0);
    SYNC(w, NOCHECK, NONE, MPI_Win_lock_all, MPI_MODE_NOCHECK, win);
    ON(w, 2 * INT, 0, next, 2 * INT, 0, MPI_Rput, out, 2, MPI_INT, next, 2, 2, MPI_INT, win, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    truth_done(RMA_DONE, 2 * INT);
    ON(w, 3 * INT, 0, next, 0, 3 * INT, MPI_Rget, in, 3, MPI_INT, next, 3, 3, MPI_INT, win, &several[0]);
    ON(w, 20 * INT, 0, next, 4 * INT, 0, MPI_Raccumulate, out, 4, MPI_INT, next, 20, 4, MPI_INT, MPI_SUM, win,
       &several[1]);
    ON(w, 30 * INT, 0, next, 5 * INT, 5 * INT, MPI_Rget_accumulate, out, 5, MPI_INT, in + 8, 5, MPI_INT, next, 30, 5,
       MPI_INT, MPI_SUM, win, &several[2]);
    CALL(MPI_Waitall, 3, several, MPI_STATUSES_IGNORE);
    truth_done(RMA_DONE, 3 * INT);
    truth_done(RMA_DONE, 4 * INT);
    truth_done(RMA_DONE, 10 * INT);
    ON(w, 0, 0, next, INT, 0, MPI_Rput, out, 1, MPI_INT, next, 0, 1, MPI_INT, win, &request);
    while (!flag) CALL(MPI_Test, &request, &flag, MPI_STATUS_IGNORE);
    truth_done(RMA_DONE, INT);
    SYNC(w, 0, NONE, MPI_Win_flush_all, win);
    SYNC(w, 0, NONE, MPI_Win_flush_local_all, win);
    SYNC(w, 0, NONE, MPI_Win_sync, win);
    SYNC(w, 0, NONE, MPI_Win_unlock_all, win);
    SYNC(w, 0, NONE, MPI_Win_free, &win);
}

static void pairs(void)
{
    MPI_Win win;
    MPI_Group world, left, right;
    int memory[N] = {0}, flag = 0, all[N], ranks;
    CALL(MPI_Win_create, memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    int w = truth_object(MPI_COMM_WORLD, WINDOW, sizeof memory, 1, CREATE, "");
    truth_access("MPI_Win_create", w, -1, 0, NONE, 0, 0);
    CALL(MPI_Comm_group, MPI_COMM_WORLD, &world);
    CALL(MPI_Group_size, world, &ranks);
    for (int i = 0; i < ranks; i++) all[i] = i;
    for (int round = 0; round < 4; round++) { // handles come again for other groups
        int everybody = round > 1;
        long every_bit = (1L << ranks) - 1;
        CALL(MPI_Group_incl, world, everybody ? ranks : 1, everybody ? all : &previous, &left);
        CALL(MPI_Group_incl, world, everybody ? ranks : 1, everybody ? all : &next, &right);
        GROUPED(w, everybody ? every_bit : 1L << previous, NOSTORE, MPI_Win_post, left, MPI_MODE_NOSTORE, win);
        GROUPED(w, everybody ? every_bit : 1L << next, 0, MPI_Win_start, right, 0, win);
        CALL(MPI_Group_free, &left);
        CALL(MPI_Group_free, &right);
        ON(w, 12, 0, next, 2 * INT, 0, MPI_Put, out, 2, MPI_INT, next, 12, 2, MPI_INT, win);
        SYNC(w, 0, NONE, MPI_Win_complete, win);
        if (round % 2 == 0) {
            SYNC(w, 0, NONE, MPI_Win_wait, win);
            continue;
        }
        for (flag = 0; !flag;) CALL(MPI_Win_test, win, &flag);
        truth_access("MPI_Win_test", w, -1, 0, NONE, 0, 0); // the one that succeeded
    }
    CALL(MPI_Group_free, &world);
    SYNC(w, 0, NONE, MPI_Win_free, &win);
}

static void shared(void)
{
    MPI_Win win;
    MPI_Comm node;
    MPI_Aint bytes;
    int *memory, unit, rank;
    CALL(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    CALL(MPI_Comm_rank, node, &rank);
    CALL(MPI_Win_allocate_shared, N * INT, sizeof(int), MPI_INFO_NULL, node, &memory, &win);
    int w = truth_object(node, WINDOW, N * INT, sizeof(int), SHARED, "");
    truth_access("MPI_Win_allocate_shared", w, -1, 0, NONE, 0, 0);
    SYNC(w, 0, rank, MPI_Win_shared_query, win, rank, &bytes, &unit, &memory);
    SYNC(w, 0, NONE, MPI_Win_fence, 0, win);
    SYNC(w, 0, NONE, MPI_Win_free, &win);
    CALL(MPI_Comm_free, &node);
}

static void dynamic(void)
{
    MPI_Win win;
    MPI_Aint here, there;
    int *memory = calloc(N, sizeof *memory);
    CALL(MPI_Win_create_dynamic, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    int w = truth_object(MPI_COMM_WORLD, WINDOW, 0, 1, DYNAMIC, "");
    truth_access("MPI_Win_create_dynamic", w, -1, 0, NONE, 0, 0);
    ON(w, (long)memory, 0, NONE, 0, 0, MPI_Win_attach, win, memory, N * INT);
    PMPI_Get_address(memory, &here);
    PMPI_Sendrecv(&here, 1, MPI_AINT, previous, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    SYNC(w, SHARED_LOCK, next, MPI_Win_lock, MPI_LOCK_SHARED, next, 0, win);
    ON(w, there + 8, 0, next, 2 * INT, 0, MPI_Put, out, 2, MPI_INT, next, there + 8, 2, MPI_INT, win);
    SYNC(w, 0, next, MPI_Win_unlock, next, win);
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    ON(w, (long)memory, 0, NONE, 0, 0, MPI_Win_detach, win, memory);
    SYNC(w, 0, NONE, MPI_Win_free, &win);
    free(memory);
}

static int handled;

static void handler(MPI_Win *win, int *code, ...)
{
    (void)win;
    handled += *code == MPI_ERR_OTHER;
}

// Things that a program attaches to a window: an error handler, an attribute, hints, a name.
static void belongings(void)
{
    MPI_Win win;
    MPI_Errhandler own, found;
    MPI_Info info;
    int key, length, before = handled, *memory;
    char name[MPI_MAX_OBJECT_NAME];
    CALL(MPI_Win_allocate, N * INT, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int w = truth_object(MPI_COMM_WORLD, WINDOW, N * INT, sizeof(int), ALLOCATE, "");
    truth_access("MPI_Win_allocate", w, -1, 0, NONE, 0, 0);
    CALL(MPI_Win_create_errhandler, handler, &own);
    SYNC(w, 0, NONE, MPI_Win_set_errhandler, win, own);
    SYNC(w, 0, NONE, MPI_Win_get_errhandler, win, &found);
    SYNC(w, 0, NONE, MPI_Win_call_errhandler, win, MPI_ERR_OTHER);
    if (handled != before + 1) truth_fail("the handler was not called once");
    CALL(MPI_Errhandler_free, &found);
    CALL(MPI_Errhandler_free, &own);
    CALL(MPI_Win_create_keyval, MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    SYNC(w, 0, NONE, MPI_Win_set_attr, win, key, name);
    SYNC(w, 0, NONE, MPI_Win_delete_attr, win, key);
    CALL(MPI_Win_free_keyval, &key);
    SYNC(w, 0, NONE, MPI_Win_get_info, win, &info);
    SYNC(w, 0, NONE, MPI_Win_set_info, win, info);
    CALL(MPI_Info_free, &info);
    SYNC(w, 0, NONE, MPI_Win_get_name, win, name, &length);
#ifdef OPEN_MPI // a macro in MPICH
    SYNC(w, 0, NONE, MPI_Win_c2f, win);
#endif
#if MPI_VERSION >= 5
    SYNC(w, 0, NONE, MPI_Win_toint, win);
#endif
    SYNC(w, 0, NONE, MPI_Win_free, &win);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    next = (truth.rank + 1) % truth.size;
    previous = (truth.rank + truth.size - 1) % truth.size;
    for (int round = 0; round < 2; round++) { // handles are used again
        fences();
        locks();
        requests();
        pairs();
        shared();
        dynamic();
        belongings();
    }
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
