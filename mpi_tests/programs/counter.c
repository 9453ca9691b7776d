// A second opinion on real programs: preloaded ahead of the tracer, counts the commonest calls and the receives that
// will bring a message, and passes each call on to the tracer. Written as truth-<rank>.jsonl by MPI_Finalize.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 32 };

static struct {
    const char *name;
    long count;
} calls[MOST];
static int n_calls;
static long receives; // posted and not cancelled, from somebody

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

// Defines a wrapper that counts, runs `note` and passes the call on.
#define WRAP(function, note, parameters, arguments)                                                                    \
    int function parameters                                                                                            \
    {                                                                                                                  \
        static int(*real) parameters, slot;                                                                            \
        if (!real) {                                                                                                   \
            real = (int(*) parameters)next(#function);                                                                 \
            slot = n_calls++;                                                                                          \
            calls[slot].name = #function;                                                                              \
        }                                                                                                              \
        calls[slot].count++;                                                                                           \
        note;                                                                                                          \
        return real arguments;                                                                                         \
    }

#define FROM_SOMEBODY receives += source != MPI_PROC_NULL
#define NOTHING (void)0

WRAP(MPI_Send, NOTHING, (const void *b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c), (b, n, t, dest, tag, c))
WRAP(MPI_Rsend, NOTHING, (const void *b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c), (b, n, t, dest, tag, c))
WRAP(MPI_Ssend, NOTHING, (const void *b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c), (b, n, t, dest, tag, c))
WRAP(MPI_Isend, NOTHING, (const void *b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c, MPI_Request *r),
     (b, n, t, dest, tag, c, r))
WRAP(MPI_Recv, FROM_SOMEBODY, (void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Status *s),
     (b, n, t, source, tag, c, s))
WRAP(MPI_Irecv, FROM_SOMEBODY, (void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request *r),
     (b, n, t, source, tag, c, r))
WRAP(MPI_Sendrecv, FROM_SOMEBODY,
     (const void *b, int n, MPI_Datatype t, int dest, int stag, void *rb, int rn, MPI_Datatype rt, int source, int rtag,
      MPI_Comm c, MPI_Status *s),
     (b, n, t, dest, stag, rb, rn, rt, source, rtag, c, s))
WRAP(MPI_Cancel, receives--, (MPI_Request * r), (r)) // these programs cancel receives only
WRAP(MPI_Wait, NOTHING, (MPI_Request * r, MPI_Status *s), (r, s))
WRAP(MPI_Waitall, NOTHING, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
WRAP(MPI_Testany, NOTHING, (int n, MPI_Request *r, int *i, int *f, MPI_Status *s), (n, r, i, f, s))
WRAP(MPI_Barrier, NOTHING, (MPI_Comm c), (c))
WRAP(MPI_Bcast, NOTHING, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
WRAP(MPI_Allreduce, NOTHING, (const void *b, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, r, n, t, o, c))
WRAP(MPI_Reduce, NOTHING, (const void *b, void *r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
     (b, r, n, t, o, root, c))

int MPI_Finalize(void)
{
    int rank;
    char name[32];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "truth-%d.jsonl", rank);
    FILE *f = fopen(name, "w");
    if (!f) abort();
    for (int i = 0; i < n_calls; i++) fprintf(f, "[\"call\", \"%s\", %ld, 0, 0]\n", calls[i].name, calls[i].count);
    fprintf(f, "[\"call\", \"receives\", %ld, 0, 0]\n", receives);
    fclose(f);
    return ((int (*)(void))next("MPI_Finalize"))();
}
