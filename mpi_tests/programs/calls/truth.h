// Notes of a test program about its own actions: it counts every MPI call beside making it, and logs every message
// from its contents. Written as lines of truth-<rank>.jsonl, to be compared with what the tracer recorded:
//     ["call", name, count, bytes sent by collectives of this name, bytes received by them]
//     ["sent" or "received", communicator, peer, tag, bytes]
//     ["access", call, object, byte offset, detail, peer, bytes sent, bytes received]; objects count from 1
//     ["object", communicator, kind, bytes, displacement unit, flags, name]
//     ["done", what, bytes]: a request that was completed
//     ["error", call, class]: one that the call returned
//
// The program's own bookkeeping calls PMPI_, which no tracer sees. With TRUTH_OF_THREADS each thread has notes of its
// own, from truth_begin to truth_write_as, which gives the name of its file.

#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// CALL(MPI_Send, buffer, ...) makes the call and counts it.
#define CALL(name, ...) CALL_EXPANDED(name, __VA_ARGS__)
#define CALL_EXPANDED(name, ...) (truth_count(#name), name(__VA_ARGS__))

enum { TRUTH_NAMES = 256, TRUTH_MESSAGES = 65536, TRUTH_ACCESSES = 4096, MESSAGE_INTS = 1024 };

struct truth_message {
    int peer, tag;
    long bytes;
    int comm; // index in truth.comms
};

struct truth_call {
    const char *name;
    long count, sent, received; // sent and received: bytes moved by collectives of this name
};

struct truth_access {
    const char *call;
    int object, detail, peer;
    long offset, sent, received;
};

struct truth_object {
    int comm, kind, unit, flags;
    long bytes;
    char name[224];
};

struct truth_done {
    int what;
    long bytes;
};

struct truth_error {
    const char *call;
    int class_;
};

struct truth_notes {
    struct truth_call calls[TRUTH_NAMES];
    struct truth_message sent[TRUTH_MESSAGES], received[TRUTH_MESSAGES];
    struct truth_access accesses[TRUTH_ACCESSES];
    struct truth_object objects[64];
    struct truth_done done[TRUTH_ACCESSES];
    struct truth_error errors[64];
    char comms[64][256]; // "0 1 2 3" or "0 1 | 2 3": world ranks
    int n_calls, n_sent, n_received, n_accesses, n_objects, n_done, n_errors, n_comms, rank, size;
};

#ifdef TRUTH_OF_THREADS
static _Thread_local struct truth_notes *truth_of_thread;
#define truth (*truth_of_thread)
#else
static struct truth_notes truth;
#endif

static inline void truth_fail(const char *text)
{
    fprintf(stderr, "rank %d: %s\n", truth.rank, text);
    PMPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

static inline struct truth_call *truth_find(const char *name)
{
    int i = 0;
    while (i < truth.n_calls && strcmp(truth.calls[i].name, name) != 0) i++;
    if (i == TRUTH_NAMES) truth_fail("too many names");
    if (i == truth.n_calls) truth.calls[truth.n_calls++].name = name;
    return &truth.calls[i];
}

static inline void truth_count(const char *name)
{
    truth_find(name)->count++;
}

// Bytes of the last collective of that name.
static inline void truth_moved(const char *name, long sent, long received)
{
    truth_find(name)->sent += sent;
    truth_find(name)->received += received;
}

// All processes: MPI_COMM_WORLD, or in a program of sessions the group of the one in use.
static MPI_Group truth_world_of_session;
static inline void truth_begin_session(MPI_Group world)
{
    truth_world_of_session = world;
    PMPI_Group_rank(world, &truth.rank);
    PMPI_Group_size(world, &truth.size);
}

static inline void truth_begin(void)
{
#ifdef TRUTH_OF_THREADS
    truth_of_thread = calloc(1, sizeof truth);
#endif
    PMPI_Comm_rank(MPI_COMM_WORLD, &truth.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &truth.size);
}

static inline void truth_append_members(char *text, size_t room, MPI_Group group)
{
    MPI_Group world = truth_world_of_session;
    int n;
    if (!world) PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &n);
    for (int i = 0; i < n; i++) {
        int member;
        size_t used = strlen(text);
        PMPI_Group_translate_ranks(group, 1, &i, world, &member);
        snprintf(text + used, room - used, "%s%d", used ? " " : "", member);
    }
    if (!truth_world_of_session) PMPI_Group_free(&world);
}

static inline int truth_comm(MPI_Comm comm)
{
    char text[256] = "";
    MPI_Group group;
    int inter, i = 0;
    PMPI_Comm_group(comm, &group);
    truth_append_members(text, sizeof text, group);
    PMPI_Group_free(&group);
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) {
        PMPI_Comm_remote_group(comm, &group);
        strncat(text, " |", sizeof text - strlen(text) - 1);
        truth_append_members(text, sizeof text, group);
        PMPI_Group_free(&group);
    }
    while (i < truth.n_comms && strcmp(truth.comms[i], text) != 0) i++;
    if (i == 64) truth_fail("too many communicators");
    if (i == truth.n_comms) strcpy(truth.comms[truth.n_comms++], text);
    return i;
}

static inline void truth_log(struct truth_message *log, int *n, MPI_Comm comm, int peer, int tag, long bytes)
{
    if (*n == TRUTH_MESSAGES) truth_fail("too many messages");
    log[*n].peer = peer;
    log[*n].tag = tag;
    log[*n].bytes = bytes;
    log[(*n)++].comm = truth_comm(comm);
}

static inline void truth_sent(MPI_Comm comm, int dest, int tag, long bytes)
{
    truth_log(truth.sent, &truth.n_sent, comm, dest, tag, bytes);
}

static inline void truth_received(MPI_Comm comm, int source, int tag, long bytes)
{
    truth_log(truth.received, &truth.n_received, comm, source, tag, bytes);
}

static inline void truth_access(const char *call, int object, long offset, int detail, int peer, long sent,
                                long received)
{
    if (truth.n_accesses == TRUTH_ACCESSES) truth_fail("too many accesses");
    truth.accesses[truth.n_accesses++] = (struct truth_access){call, object, detail, peer, offset, sent, received};
}

// A window or file that was made; its number.
static inline int truth_object(MPI_Comm comm, int kind, long bytes, int unit, int flags, const char *name)
{
    struct truth_object *o = &truth.objects[truth.n_objects++];
    if (truth.n_objects == 64) truth_fail("too many objects");
    *o = (struct truth_object){truth_comm(comm), kind, unit, flags, bytes, ""};
    snprintf(o->name, sizeof o->name, "%s", name);
    return truth.n_objects;
}

static inline void truth_done(int what, long bytes)
{
    if (truth.n_done == TRUTH_ACCESSES) truth_fail("too many requests");
    truth.done[truth.n_done++] = (struct truth_done){what, bytes};
}

static inline void truth_error(const char *call, int class_)
{
    if (truth.n_errors == 64) truth_fail("too many errors");
    truth.errors[truth.n_errors++] = (struct truth_error){call, class_};
}

// A message of n >= 3 ints that says itself who sent it, with which tag, and how long it is.
static inline int *outgoing(int *message, MPI_Comm comm, int dest, int tag, int n)
{
    PMPI_Comm_rank(comm, &message[0]);
    message[1] = tag;
    message[2] = n;
    for (int i = 3; i < n; i++) message[i] = i;
    truth_sent(comm, dest, tag, n * (long)sizeof(int));
    return message;
}

// Logs a message that arrived and empties its buffer.
static inline void incoming(int *message, MPI_Comm comm)
{
    if (message[2] < 3 || message[2] > MESSAGE_INTS) truth_fail("a message arrived damaged");
    truth_received(comm, message[0], message[1], message[2] * (long)sizeof(int));
    message[2] = 0;
}

static inline void truth_write_messages(FILE *f, const char *what, const struct truth_message *log, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(f, "[\"%s\", \"%s\", %d, %d, %ld]\n", what, truth.comms[log[i].comm], log[i].peer, log[i].tag,
                log[i].bytes);
}

static inline void truth_write_as(const char *name)
{
    FILE *f = fopen(name, "w");
    if (!f) exit(4);
    for (int i = 0; i < truth.n_calls; i++)
        fprintf(f, "[\"call\", \"%s\", %ld, %ld, %ld]\n", truth.calls[i].name, truth.calls[i].count,
                truth.calls[i].sent, truth.calls[i].received);
    truth_write_messages(f, "sent", truth.sent, truth.n_sent);
    truth_write_messages(f, "received", truth.received, truth.n_received);
    for (int i = 0; i < truth.n_accesses; i++) {
        const struct truth_access *a = &truth.accesses[i];
        fprintf(f, "[\"access\", \"%s\", %d, %ld, %d, %d, %ld, %ld]\n", a->call, a->object, a->offset, a->detail,
                a->peer, a->sent, a->received);
    }
    for (int i = 0; i < truth.n_objects; i++) {
        const struct truth_object *o = &truth.objects[i];
        fprintf(f, "[\"object\", \"%s\", %d, %ld, %d, %d, \"%s\"]\n", truth.comms[o->comm], o->kind, o->bytes, o->unit,
                o->flags, o->name);
    }
    for (int i = 0; i < truth.n_done; i++) fprintf(f, "[\"done\", %d, %ld]\n", truth.done[i].what, truth.done[i].bytes);
    for (int i = 0; i < truth.n_errors; i++)
        fprintf(f, "[\"error\", \"%s\", %d]\n", truth.errors[i].call, truth.errors[i].class_);
    if (fclose(f) != 0) exit(4);
}

static inline void truth_write(void)
{
    char name[64];
    snprintf(name, sizeof name, "truth-%d.jsonl", truth.rank);
    truth_write_as(name);
}

#endif
