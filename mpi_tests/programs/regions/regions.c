// Regions, parameters, events and names by several threads at once; every thread notes what it does, so that the
// trace can be compared with it. With -DALONE the same without MPI. `regions N` first has a thread that records N
// regions and ends, before MPI_Init.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef ALONE
#include <mpi.h>
#endif
#include <tracelib.h>

enum { THREADS = 4, ROUNDS = 800 };

static int rank;
static _Thread_local FILE *notes;

static void take_notes(int thread)
{
    char name[64];
    snprintf(name, sizeof name, "notes-%d-%d.jsonl", rank, thread);
    notes = fopen(name, "w");
}

static void begin(const char *name)
{
    tracelib_region_begin(name);
    fprintf(notes, "[\"begin\", \"%s\"]\n", name);
}

static void end(const char *name)
{
    tracelib_region_end(name);
    fprintf(notes, "[\"end\", \"%s\"]\n", name ? name : "");
}

static void real(const char *name, double value)
{
    tracelib_region_parameter(name, value);
    fprintf(notes, "[\"real\", \"%s\", %.17g]\n", name, value);
}

static void integer(const char *name, long long value)
{
    tracelib_region_parameter_integer(name, value);
    fprintf(notes, "[\"integer\", \"%s\", %lld]\n", name, value);
}

static void event(unsigned type, long long value)
{
    tracelib_event(type, value);
    fprintf(notes, "[\"event\", %u, %lld]\n", type, value);
}

static void recurse(int depth)
{
    begin("recurse");
    if (depth) recurse(depth - 1);
    end("recurse");
}

// The same memory holds one name after the other.
static void names_in_one_buffer(void)
{
    char name[200];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "phase %d", i % 7);
        begin(name);
        end(name);
    }
    for (int i = 0; i < 150; i++) name[i] = 'x';
    name[150] = 0;
    tracelib_region_begin(name);
    tracelib_region_end(name);
    name[111] = 0; // all that the file keeps
    fprintf(notes, "[\"begin\", \"%s\"]\n[\"end\", \"%s\"]\n", name, name);
}

static void *work(void *number)
{
    int thread = (int)(long)number;
    take_notes(thread);
    begin("thread");
    integer("number", thread);
    for (int i = 0; i < ROUNDS; i++) {
        begin("outer");
        real("x", i / 8.0);
        begin(i % 2 ? "odd" : "even");
        integer("i", (long long)i << 40);
        end(i % 2 ? "odd" : "even");
        event(1000 + (unsigned)thread, i - 5);
        end("outer");
    }
    names_in_one_buffer();
    end("thread");
    fclose(notes);
    return NULL;
}

static void *early(void *number)
{
    take_notes(THREADS + 1);
    for (long i = 0; i < (long)number; i++) {
        begin("early");
        integer("number", i);
        end("early");
    }
    fclose(notes);
    return NULL;
}

// Ends without begin, and begins without end.
static void unbalanced(void)
{
    end("never begun");
    begin("left open");
    begin("left open inside");
    end("left open"); // ends both
    begin("by no name");
    end(NULL);
    end(NULL);
}

// So much that its part of the burst is above a nanosecond however long main waited for the other threads before.
static void compute(void)
{
    for (volatile int i = 0; i < 1000000; i++) {
    }
}

int main(int argc, char **argv)
{
#ifndef ALONE
    const char *known = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    rank = known ? atoi(known) : 0; // MPI is not there yet to be asked
#endif
    take_notes(0);
    begin("program");
    event(7, 1);
    tracelib_label_type(7, "Step of the program");
    tracelib_label_value(7, 1, "before");
    tracelib_label_value(7, 2, "wrong");
    tracelib_label_value(7, 2, "after");
    pthread_t threads[THREADS], first;
    if (argc > 1) {
        pthread_create(&first, NULL, early, (void *)atol(argv[1]));
        pthread_join(first, NULL);
    }
#ifndef ALONE
    int provided, mine;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    if (mine != rank) return 3;
    begin("communicate");
    integer("rank", rank);
    for (int i = 0; i < 20; i++) MPI_Barrier(MPI_COMM_WORLD);
    end("communicate");
#endif
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    recurse(5);
    unbalanced();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    tracelib_region_begin("parallel");
    tracelib_region_parallel(8);
    fprintf(notes, "[\"begin\", \"parallel\"]\n[\"parallel\", 8]\n");
    compute();
    end("parallel");
#ifndef ALONE
    MPI_Finalize();
#endif
    event(7, 2);
    tracelib_event(50000001, 1); // the tracer's own: refused
    end("program");
    begin("open at the end");
    fclose(notes);
    return 0;
}
