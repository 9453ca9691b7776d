#ifndef PRTT_H
#define PRTT_H

/* Measurement of PRTT(n, d, s): the time of n messages of s bytes, handed to MPI with a delay d between them, and of an
 * answer of s bytes to the last message. */

/* A visit: the two ranks of a pair take `rows` measurements of one size together. The caller owns the buffers. */
struct prtt_visit {
    intptr_t comm;       /* has only the pair: rank 0 measures, rank 1 answers */
    int32_t peer;        /* rank of the other process in `comm` */
    int32_t size;        /* bytes */
    int32_t train;       /* n, at least 2 */
    int32_t rows;        /* number of measurements */
    uint64_t most_delay; /* upper limit of d in ticks; 0: no limit */
    uint8_t *sent;       /* `size` bytes: messages are sent from here */
    uint8_t *received;   /* `size` bytes: messages are received here; may be `sent` */
};

/* One measurement. Times are in ticks of prtt_clock. */
struct prtt_row {
    uint64_t start;
    uint64_t one;     /* PRTT(1, 0, s) */
    uint64_t train;   /* PRTT(n, 0, s) */
    uint64_t delayed; /* PRTT(n, delay, s) */
    uint64_t delay;   /* requested delay: twice `one` */
    uint64_t waited;  /* measured sum of the n - 1 delays */
    uint64_t zero;    /* PRTT(1, 0, 1) */
    uint64_t flags;   /* Flag of the file */
};

/* One measurement of a receiver that takes `train` messages one after the other, or a delay apart. Times in ticks. */
struct prtt_receiver_row {
    uint64_t start;
    uint64_t train;   /* from the end of the first receive to the end of the last */
    uint64_t delayed; /* the same with a wait before each receive but the first, after all messages have arrived */
    uint64_t delay;   /* requested delay */
    uint64_t waited;  /* measured sum of the n - 1 delays */
    uint64_t flags;   /* Flag of the file */
};

/* Make a visit: prtt_measure at the rank that measures, which fills rows[visit->rows]; prtt_answer at the rank that
 * answers, which fills flags[visit->rows] with its part of the flags. Both block, return MPI's error code, and stop at
 * the first error. */
int prtt_measure(const struct prtt_visit *visit, struct prtt_row *rows);
int prtt_answer(const struct prtt_visit *visit, uint64_t *flags);

/* Make a visit for overhead and gap of the receiver: prtt_receive at the rank that measures, which receives; prtt_feed
 * at the other. `most_delay` is the receiver's delay. They return as prtt_measure. */
int prtt_receive(const struct prtt_visit *visit, struct prtt_receiver_row *rows);
int prtt_feed(const struct prtt_visit *visit, uint64_t *flags);

/* Find MPI and choose the clock; call it first. Returns false if this process has loaded no MPI that we know. */
_Bool prtt_open(void);

/* Return true if ticks are of the time stamp counter, false if they are ns of CLOCK_MONOTONIC. Return the clock's
 * smallest step in ticks. Read ticks and CLOCK_MONOTONIC in ns at the same moment. */
_Bool prtt_clock_is_tsc(void);
uint64_t prtt_clock_step(void);
void prtt_clock(uint64_t *ticks, int64_t *monotonic_ns);

#endif
