#ifndef IDEAL_H
#define IDEAL_H
#include "replay.h"

/* A replay on a network that takes no time and is never busy. Ranks only wait for each other, so that no clock and no
   order among ranks is needed: each rank goes on as far as it can. So several processes can share the ranks of a
   program, and exchange now and then the facts that other ranks wait for. Both the compiler and cffi read this file:
   plain declarations only. */

enum told_kind {
    TOLD_SEND = 0,       /* a message that waits for nothing */
    TOLD_LARGE_SEND = 1, /* a message that waits for its receive */
    TOLD_WAITING = 2,    /* a message that waits for its receive, and its sender waits, too */
    TOLD_RECEIVED = 3,   /* to a sender that waits: `destination` received its message at `time` */
    TOLD_MEMBERS = 4     /* a collective: the last of our members entered it at `time` */
};

/* A fact that one process tells another. Times are in ns. */
struct told {
    int64_t time;
    int64_t number;              /* number of a message, where the trace has it; of a collective in its communicator */
    int32_t source, destination; /* ranks; TOLD_MEMBERS: the operation, and 0 */
    int32_t comm, tag;
    int32_t kind;
    int32_t process; /* the process that is told */
    int64_t entered; /* members that meet for a file: when the last of them entered in the traced run */
};

struct ideal_state {
    int64_t end;            /* the latest end of a rank */
    int64_t most_computing; /* largest computation of a rank, ns */
    int64_t operations;     /* number of operations that were done */
    int64_t unfinished;     /* number of ranks that are not at their end */
    int64_t goes_on;        /* 1: some ranks could go on */
    const struct told *telling;
    int64_t n_telling;
};

enum ideal_answer {
    IDEAL_OK = 0,
    IDEAL_OTHER = 1, /* there is more to the program than ranks that wait for each other, or an error in it */
    IDEAL_NO_MEMORY = 2
};

struct ideal;

/* Make a replay of the ranks [first[own], first[own + 1]). The program has their streams, one for each rank in order,
   and the communicators of all ranks.
   first: (processes + 1,) the first rank of each process. eager_limit: sends of this many bytes or more wait for their
   receive. times: NULL, or an array with a member for each operation. The caller owns all that is passed and keeps it
   until ideal_free. Returns NULL if there is no memory. */
struct ideal *ideal_new(const struct program *program, const int32_t *first, int32_t processes, int32_t own,
                        int64_t eager_limit, struct op_time *times);

/* Take the facts that other processes told, and go on until all ranks wait or `most` operations were done. Sets *state;
   its `telling` is valid until the next call. Returns the reason for which the replay cannot go on, or IDEAL_OK. */
enum ideal_answer ideal_go_on(struct ideal *ideal, const struct told *told, int64_t n_told, int64_t most,
                              struct ideal_state *state);

/* Free a replay; NULL is allowed. */
void ideal_free(struct ideal *ideal);

#endif
