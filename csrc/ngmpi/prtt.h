#ifndef PRTT_H
#define PRTT_H

/* PRTT(n, d, s): n messages of s bytes, handed to MPI d apart, and an answer of s bytes to the last one. */

/* What the two ranks of a pair do together: `rows` measurements of one size. */
struct prtt_visit {
    intptr_t comm;       /* of the pair alone: rank 0 measures, rank 1 answers */
    int32_t peer;        /* the other's rank in it */
    int32_t size;        /* bytes */
    int32_t train;       /* n, at least 2 */
    int32_t rows;        /* how many */
    uint64_t most_delay; /* d is no longer than so many ticks; 0: no limit */
    uint8_t *sent;       /* room for `size` bytes: messages go out of it, */
    uint8_t *received;   /* and come into this; both may be the same */
};

/* One measurement, in ticks. */
struct prtt_row {
    uint64_t start;
    uint64_t one;     /* PRTT(1, 0, s) */
    uint64_t train;   /* PRTT(n, 0, s) */
    uint64_t delayed; /* PRTT(n, delay, s) */
    uint64_t delay;   /* asked for: twice `one` */
    uint64_t waited;  /* the n - 1 waits together, as they came out */
    uint64_t zero;    /* PRTT(1, 0, 1) */
    uint64_t flags;   /* Flag of the file */
};

/* What the receiver does with `train` messages that it takes one after the other, or a delay apart. In ticks. */
struct prtt_receiver_row {
    uint64_t start;
    uint64_t train;   /* from the first one's end to the last one's */
    uint64_t delayed; /* the same, with a wait before each but the first: they are all there by then */
    uint64_t delay;   /* asked for */
    uint64_t waited;  /* the n - 1 waits together, as they came out */
    uint64_t flags;
};

/* At the rank that measures, and at the one that answers, which fills `flags` with its part of each row's. Both return
 * MPI's error code, and stop at the first. */
int prtt_measure(const struct prtt_visit *visit, struct prtt_row *rows);
int prtt_answer(const struct prtt_visit *visit, uint64_t *flags);

/* The same for overhead and gap of the receiver, which is the rank that measures; `most_delay` is its delay. */
int prtt_receive(const struct prtt_visit *visit, struct prtt_receiver_row *rows);
int prtt_feed(const struct prtt_visit *visit, uint64_t *flags);

/* Find MPI and choose the clock. False: this process has loaded no MPI that we know. */
_Bool prtt_open(void);

/* Is the clock the time stamp counter (else CLOCK_MONOTONIC in ns), its smallest step, and a pair of both. */
_Bool prtt_clock_is_tsc(void);
uint64_t prtt_clock_step(void);
void prtt_clock(uint64_t *ticks, int64_t *monotonic_ns);

#endif
