// A second opinion on real programs: preloaded ahead of the tracer, counts every call of MPI that the program makes, in
// C and Fortran, and the receives that will bring a message; each call goes on to the tracer. Written at MPI_Finalize
// as truth-<rank>.jsonl. It knows the procedures from the MPI's own header (building.py: procedures.h), and
// of a call nothing but that its arguments and its result are words.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef long word;
enum { WORDS = 24, MOST_REQUESTS = 4096 }; // more words than any procedure has, lengths of Fortran's texts included

// procedures.h has COUNT(procedure) for each procedure, and WRAP(symbol, procedure, fortran) for each way into it,
// which is WRAP_CLOCK where the result is a double.
#define WRAP(symbol, procedure, fortran)
#define WRAP_CLOCK(symbol, procedure, fortran)
#define COUNT(procedure) AT_##procedure,
enum {
#include "procedures.h"
    N_PROCEDURES
};
#undef COUNT
#define COUNT(procedure) #procedure,
static const char *const names[] = {
#include "procedures.h"
};
#undef COUNT
#define COUNT(procedure)

static long counts[N_PROCEDURES];
static long receives;                  // posted and not cancelled, from somebody
static word persistent[MOST_REQUESTS]; // requests of MPI_Recv_init from somebody
static int n_persistent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int inside; // MPI's own calls are not the program's
static char path[PATH_MAX];

static int integer(word argument, int fortran)
{
    return fortran ? *(int *)argument : (int)argument;
}

static word handle(word address, int fortran)
{
    word value = 0;
    memcpy(&value, (void *)address, fortran ? sizeof(int) : sizeof(MPI_Request));
    return value;
}

static int find_persistent(word request)
{
    int i = 0;
    while (i < n_persistent && persistent[i] != request) i++;
    return i;
}

static void started(word address, int fortran)
{
    receives += find_persistent(handle(address, fortran)) < n_persistent;
}

static void note_start(int procedure, const word *a, int fortran)
{
    size_t stride = fortran ? sizeof(int) : sizeof(MPI_Request);
    switch (procedure) {
    case AT_MPI_Recv:
    case AT_MPI_Irecv:
        receives += integer(a[3], fortran) != MPI_PROC_NULL;
        break;
    case AT_MPI_Sendrecv:
        receives += integer(a[8], fortran) != MPI_PROC_NULL;
        break;
    case AT_MPI_Sendrecv_replace:
        receives += integer(a[5], fortran) != MPI_PROC_NULL;
        break;
    case AT_MPI_Mrecv:
    case AT_MPI_Imrecv:
        receives++;
        break;
    case AT_MPI_Cancel:
        receives--;
        break; // these programs cancel receives only
    case AT_MPI_Start:
        started(a[0], fortran);
        break;
    case AT_MPI_Startall:
        for (int i = 0; i < integer(a[0], fortran); i++) started(a[1] + (word)(i * stride), fortran);
        break;
    case AT_MPI_Request_free: {
        int at = find_persistent(handle(a[0], fortran));
        if (at < n_persistent) persistent[at] = persistent[--n_persistent];
        break;
    }
    }
}

static void note_end(int procedure, const word *a, int fortran)
{
    if (procedure != AT_MPI_Recv_init || integer(a[3], fortran) == MPI_PROC_NULL) return;
    if (n_persistent == MOST_REQUESTS) abort();
    persistent[n_persistent++] = handle(a[6], fortran);
}

static void write_counts(void)
{
    if (!*path) return; // before MPI_Finalize
    FILE *file = fopen(path, "w");
    if (!file) abort();
    for (int i = 0; i < N_PROCEDURES; i++)
        if (counts[i]) fprintf(file, "[\"call\", \"%s\", %ld, 0, 0]\n", names[i], counts[i]);
    fprintf(file, "[\"call\", \"receives\", %ld, 0, 0]\n", receives);
    fclose(file);
}

static void name_file(void)
{
    char folder[PATH_MAX - 64];
    int rank;
    if (!getcwd(folder, sizeof folder)) abort();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/truth-%d.jsonl", folder, rank);
}

static void enter(int procedure, const word *arguments, int fortran)
{
    if (inside++) return;
    pthread_mutex_lock(&lock);
    counts[procedure]++;
    note_start(procedure, arguments, fortran);
    if (procedure == AT_MPI_Finalize) name_file();
    write_counts(); // again at each call after MPI_Finalize, some of which come from destructors
    pthread_mutex_unlock(&lock);
}

static void leave(int procedure, const word *arguments, int fortran)
{
    if (--inside) return;
    pthread_mutex_lock(&lock);
    note_end(procedure, arguments, fortran);
    pthread_mutex_unlock(&lock);
}

// A way into MPI: the C or a Fortran form of a procedure.
struct way {
    const char *symbol;
    int procedure, fortran;
    void *real;
};

#define ARGUMENTS(_)                                                                                                   \
    _(0), _(1), _(2), _(3), _(4), _(5), _(6), _(7), _(8), _(9), _(10), _(11), _(12), _(13), _(14), _(15), _(16),       \
        _(17), _(18), _(19), _(20), _(21), _(22), _(23)
#define DECLARED(i) word a##i
#define PASSED(i) a##i
#define ELEMENT(i) a[i]

// Counts the call and passes it on.
#define DEFINE_PASS(name, type)                                                                                        \
    static type name(struct way *way, const word *a)                                                                   \
    {                                                                                                                  \
        if (!way->real) way->real = dlsym(RTLD_NEXT, way->symbol);                                                     \
        if (!way->real) abort();                                                                                       \
        enter(way->procedure, a, way->fortran);                                                                        \
        type result = ((type (*)(ARGUMENTS(DECLARED)))way->real)(ARGUMENTS(ELEMENT));                                  \
        leave(way->procedure, a, way->fortran);                                                                        \
        return result;                                                                                                 \
    }
DEFINE_PASS(pass, word)
DEFINE_PASS(pass_clock, double)

// A function of another name in C than for the linker, as mpi.h declares the latter.
#define DEFINE_WAY(type, pass, symbol, procedure, fortran)                                                             \
    type way_##symbol(ARGUMENTS(DECLARED)) __asm__(#symbol);                                                           \
    type way_##symbol(ARGUMENTS(DECLARED))                                                                             \
    {                                                                                                                  \
        static struct way way = {#symbol, AT_##procedure, fortran, NULL};                                              \
        return pass(&way, (word[WORDS]){ARGUMENTS(PASSED)});                                                           \
    }
#undef WRAP
#undef WRAP_CLOCK
#define WRAP(symbol, procedure, fortran) DEFINE_WAY(word, pass, symbol, procedure, fortran)
#define WRAP_CLOCK(symbol, procedure, fortran) DEFINE_WAY(double, pass_clock, symbol, procedure, fortran)
#include "procedures.h"
