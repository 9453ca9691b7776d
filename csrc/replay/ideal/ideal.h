#ifndef IDEAL_H
#define IDEAL_H
#include "replay.h"

/* A replay on a network that takes no time and is never busy: ranks only wait for each other, so that no clock is
   needed and no order among them. Each goes on as far as it can. So several processes can share the ranks of a program,
   and tell each other now and then what others wait for. Both the compiler and cffi read this file: plain declarations
   only. */

enum told_kind {
    TOLD_SEND = 0,       /* a message that waits for nothing */
    TOLD_LARGE_SEND = 1, /* one that waits for its receive */
    TOLD_WAITING = 2,    /* so does its sender */
    TOLD_RECEIVED = 3,   /* to a sender that waits: `destination` received its message at `time` */
    TOLD_MEMBERS = 4     /* a collective: the last of our members entered it at `time` */
};

/* What one process tells another. */
struct told {
    int64_t time;
    int64_t number;              /* of a message where the trace names it; which collective of the communicator */
    int32_t source, destination; /* ranks; of members: the operation, and 0 */
    int32_t comm, tag;
    int32_t kind;
    int32_t process; /* whom it is told */
    int64_t entered; /* of members that meet for a file: when the last of them did in the traced run */
};

struct ideal_state {
    int64_t end;            /* the latest end of a rank */
    int64_t most_computing; /* of one rank, ns */
    int64_t operations;     /* that were done */
    int64_t unfinished;     /* ranks that are not at their end */
    int64_t goes_on;        /* 1: some could go on */
    const struct told *telling;
    int64_t n_telling;
};

enum ideal_answer {
    IDEAL_OK = 0,
    IDEAL_OTHER = 1, /* there is more to the program than ranks that wait for each other, or an error in it */
    IDEAL_NO_MEMORY = 2
};

struct ideal;

/* Of a program that has the streams of ranks [first[own], first[own + 1]), one for each in order, and the communicators
   of all. first: (processes + 1,) the first rank of each process. Sends of `eager_limit` bytes or more wait for their
   receive. times: NULL, or one for each operation. What is passed is kept by the caller. NULL: no memory. */
struct ideal *ideal_new(const struct program *program, const int32_t *first, int32_t processes, int32_t own,
                        int64_t eager_limit, struct op_time *times);

/* Take what others told, and go on until all ranks wait, or so many operations were done. What is to be told stands in
   `state` until the next call. */
enum ideal_answer ideal_go_on(struct ideal *ideal, const struct told *told, int64_t n_told, int64_t most,
                              struct ideal_state *state);

void ideal_free(struct ideal *ideal); /* or of NULL */

#endif
