/* Our own records in a Dimemas trace, and the faults of a line. */
#ifndef DIMFORMAT_H
#define DIMFORMAT_H

/* Types of events by which we write what Dimemas has no record for; to Dimemas they are ordinary events. Their
   values: PRIORITY, the thread's priority from here on; SEM_..., the number of a semaphore; PARALLEL, the number of
   threads that share the burst before; EAGER_LIMIT, the size (bytes) from which MPI_Send waited for its receive, in
   the whole run. */
enum {
    DIM_PRIORITY = 49000010,
    DIM_SEM_WAIT = 49000011,
    DIM_SEM_SIGNAL = 49000012,
    DIM_PARALLEL = 49000013,
    DIM_EAGER_LIMIT = 49000014
};

/* Kinds of our own records, which Dimemas refuses: messages to and from other applications, by a port. */
enum { DIM_PORT_SEND = 30, DIM_PORT_RECEIVE = 31 };

/* Faults of a line. */
enum dim_reason {
    DIM_FINE = 0,
    DIM_NO_RECORD = 1,
    DIM_UNKNOWN_RECORD = 2,
    DIM_BAD_FIELD = 3,
    DIM_NO_THREAD = 4,
    DIM_NO_PEER = 5,
    DIM_NO_COMMUNICATOR = 6,
    DIM_NO_MEMBER = 7,
    DIM_NO_OPERATION = 8,
    DIM_NOTHING_TO_WAIT_FOR = 9,
    DIM_OUT_OF_ORDER = 10,
    DIM_AFTER_OFFSETS = 11,
    DIM_LATE_DEFINITION = 12,
    DIM_ACCELERATOR = 13,
    DIM_BAD_TIME = 14,
    DIM_BAD_SIZE = 15,
    DIM_NO_MEMORY = 16
};

#endif
