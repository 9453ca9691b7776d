#ifndef REPLAY_H
#define REPLAY_H
#include <stdint.h>

/* Input and output of the simulator. Both the compiler and cffi read this file: plain declarations only.
   Times are ns from the start of the replay. A count of 0 stands for "as many as wanted". */

enum op_kind {
    OP_NONE = 0, /* a call that takes no time */
    OP_SEND = 1,
    OP_RECV = 2,
    OP_IRECV = 3,            /* opens `request` */
    OP_WAIT = 4,             /* closes `request`: of an OP_IRECV, an OP_COLLECTIVE_START, an OP_PUT or an OP_GET */
    OP_COLLECTIVE = 5,       /* `tag` is the operation */
    OP_COLLECTIVE_START = 6, /* opens `request` */
    OP_EVENT = 7,            /* of type `tag` and value `other` */
    OP_PRIORITY = 8,         /* from now on the thread's priority is `other`; smaller is better */
    OP_SEM_WAIT = 9,         /* semaphore `tag` of the rank */
    OP_SEM_SIGNAL = 10,
    OP_PUT = 11, /* one-sided, in window `comm`: nobody receives; opens `request` unless that is -1 */
    OP_GET = 12,
    OP_ACCESSES_WAIT = 13, /* until all OP_PUT and OP_GET of the rank in window `comm` to `peer` (-1: any) are done */
    OP_PARALLEL = 14,      /* `burst` is shared by `other` virtual threads */
    OP_PORT_SEND = 15,     /* through port `tag`; the other side is rank `peer` of application `comm` */
    OP_PORT_RECV = 16,
    OP_LOCK = 17, /* of window `comm` at target `peer` (-1: of all), `tag` is an enum lock_kind */
    OP_UNLOCK = 18,
    OP_FILE = 19, /* `tag` is an enum file_use, `other` the ns that the traced run spent in it; opens `request` and
                     does not wait for it unless that is -1 */
    OP_KINDS = 20
};

/* Action of an OP_FILE. FILE_LOCAL needs no file system, and FILE_BEGIN, the begin of a split collective, has its bytes
   in the OP_FILE that ends it. */
enum file_use {
    FILE_LOCAL = 0,
    FILE_READ = 1,
    FILE_WRITE = 2,
    FILE_OPEN = 3,
    FILE_CLOSE = 4,
    FILE_SYNC = 5,
    FILE_BEGIN = 6
};

/* As MPI_LOCK_EXCLUSIVE and MPI_LOCK_SHARED are recorded. */
enum lock_kind { LOCK_EXCLUSIVE = 1, LOCK_SHARED = 2 };

/* `tag` of an OP_SEND and an OP_RECV with OP_OF_WINDOW. */
enum window_message { WINDOW_POSTED = 0, WINDOW_COMPLETED = 1 };

enum op_flags {
    OP_FIRST = 1,         /* of the operations of one traced call; they go on to the next that is */
    OP_OF_COLLECTIVE = 2, /* an OP_WAIT that repeats the fields of a collective, not of a receive */
    OP_RENDEZVOUS = 4,    /* the two bits of the sync field of a Dimemas trace */
    OP_IMMEDIATE = 8,
    OP_SHARED = 16,        /* `request` is one of the rank: another thread completes it */
    OP_BETWEEN_CALLS = 32, /* a semaphore that is of no traced call */
    OP_STANDARD = 64,      /* a blocking send of which MPI decides whether it waits */
    OP_OF_WINDOW = 128,    /* a message by which calls on a window wait for each other */
    OP_OF_ACCESS = 256,    /* an OP_WAIT for the end of an OP_PUT or an OP_GET */
    OP_OF_FILE = 512 /* an OP_COLLECTIVE or OP_COLLECTIVE_START in which the members of `comm` meet for a file, and
                        the OP_WAIT for it: `other` is when the traced run entered the call (ns). Else an OP_WAIT
                        for an OP_FILE: `other` is the ns that the traced run waited. Else an OP_FILE that ends the
                        FILE_BEGIN of `request`, and waits. */
};

struct op {
    int64_t burst; /* ns of computation before it */
    int64_t bytes; /* of the message; of a collective: sent by this rank */
    int64_t other; /* of a collective: received by this rank */
    int32_t peer;  /* rank of the application; of a collective its root; -1: none */
    int32_t tag;
    int32_t comm; /* index in the program's communicators */
    int32_t request;
    uint16_t kind;
    uint16_t flags;
    uint32_t block; /* index in the program's factors: the burst lasts that many times as long */
};

enum law { LAW_CONSTANT = 0, LAW_UNIFORM = 1, LAW_GAUSSIAN = 2, LAW_EXPONENTIAL = 3 };

/* A parameter. Uniform: from a to b; gaussian: mean a, standard deviation b; exponential: a plus mean b. */
struct quantity {
    double a, b;
    int32_t law;
    int32_t id; /* tells its random numbers from those of others */
};

/* From bytes[k] on, ns = constant + slope * bytes. */
struct curve_piece {
    int64_t bytes;
    double cpu, cpu_slope;   /* the sender's processor */
    double wire, wire_slope; /* from there to the arrival */
    double hold, hold_slope; /* of links and bus, from the physical start */
};

/* Measured costs by size, piecewise linear. */
struct curve {
    int32_t n_pieces; /* 0: latency and bandwidth */
    const struct curve_piece *pieces;
};

struct node {
    int32_t cpus; /* > 0 */
    int32_t network;
    struct quantity speed;           /* bursts are divided by it */
    struct quantity latency;         /* s, to other nodes */
    struct quantity intra_latency;   /* s */
    struct quantity intra_bandwidth; /* MB/s (2^20), 0: infinite */
    struct quantity wan_latency;     /* s, to nodes of other networks */
    int32_t links_out, links_in, half_duplex;
    int32_t intra_buses, intra_out, intra_in;
    struct curve intra; /* of messages within the node */
};

struct network {
    struct quantity bandwidth; /* MB/s (2^20), 0: infinite */
    int32_t buses;
    struct curve measured;
};

enum model { MODEL_NONE = 0, MODEL_CONSTANT = 1, MODEL_LINEAR = 2, MODEL_LOG = 3 };
/* SIZE_PHASE: what is sent in the fan-in, what is received in the fan-out. */
enum size_of { SIZE_MAX_ = 0, SIZE_MIN_ = 1, SIZE_MEAN = 2, SIZE_TWICE_MAX = 3, SIZE_SUM = 4, SIZE_PHASE = 5 };

struct collective_model {
    int32_t in_model, in_size, out_model, out_size;
    int32_t largest; /* take the largest size of any member, not those of the root */
};

enum { COLLECTIVES = 16 };

enum policy_priority {
    PRIORITY_NONE = 0,
    PRIORITY_FIXED = 1,
    PRIORITY_RECORDS = 2,
    PRIORITY_SVR4 = 3,
    PRIORITY_DECAY = 4,
    PRIORITY_BOOST = 5
};

/* Times of a policy: a slice of 0 lasts until the thread blocks, a busy wait below 0 until it is over, as the libraries
   of MPI wait. */
enum span_kind { SPAN_SLICE = 0, SPAN_CONTEXT_SWITCH = 1, SPAN_BUSY_WAIT = 2, SPAN_LEAST_RUN = 3 };

/* ns, drawn at each use where `drawn` (ns) is no constant. */
struct span {
    int64_t ns;
    struct quantity drawn;
};

struct svr4_level {
    struct span quantum;
    int32_t expired, slept; /* level after exhausting the slice, after sleeping; smaller is better */
};

/* After which intervals a DECAY policy forgets what was used, averages the load, and makes priorities anew. */
enum interval_kind { INTERVAL_DECAY = 0, INTERVAL_LOAD = 1, INTERVAL_SETTLE = 2, INTERVALS = 3 };

struct policy {
    int32_t priority;
    int32_t preemptive;
    struct span spans[4]; /* by enum span_kind */
    int32_t n_levels, worst, best, reserved;
    const struct svr4_level *levels;
    struct span tick, intervals[3];                                     /* DECAY; an interval of 0 has no end */
    int32_t receiver_first, receiver_last, sender_receiver_first, base; /* BOOST, added to the priority */
};

/* Files of all nodes: servers that take one request after the other. */
struct file_system {
    int32_t known;                              /* 0: each OP_FILE lasts as long as in the traced run */
    int32_t servers;                            /* requests that are served at once; 0: all */
    int64_t block;                              /* bytes of which whole ones move; 0 or 1: as many as are asked for */
    struct quantity latency, open, close, sync; /* s */
    struct quantity read, write;                /* MB/s (2^20), 0: infinite */
};

struct machine {
    int32_t n_nodes, n_networks;
    const struct node *nodes;
    const struct network *networks;
    struct quantity wan_bandwidth;
    struct collective_model collectives[16];
    struct policy policy;
    uint64_t seed;
    struct quantity eager_limit; /* bytes from which sends are rendezvous; -1: as programs say */
    int32_t synchronous;         /* blocking sends wait for delivery */
    int32_t receiver_pays;       /* receives cost latency on their processor, nonblocking ones when waited for */
    int32_t delivery_frees;      /* a rendezvous sender goes on at delivery, else when the transfer starts, or before
                                    it (as_dimemas) */
    int32_t exclusive;           /* collectives hold the network: 0 never, 1 always, 2 where buses are counted */
    int32_t as_dimemas;          /* what Dimemas 5.5 does for no reason of MPI or of machines: docs/dimemas.md */
    int32_t by_arrival;          /* messages of one key are received as they arrive, not as they were sent */
    struct file_system files;
};

struct program {
    int32_t n_ranks, n_streams, n_comms, n_factors;
    int32_t virtual_threads; /* the largest `other` of any OP_PARALLEL, 0: there is none */
    int32_t places;          /* of dictionaries, that are used: no operation names another */
    int32_t file;            /* descriptor of what holds the operations, packed (pack.h); -1: they are in memory */
    const uint8_t *packed;   /* in memory */
    int64_t packed_bytes;
    const int64_t *blocks;       /* where in them each block begins */
    const int64_t *offsets;      /* (n_streams + 1) of the first operation of each stream */
    const int32_t *rank;         /* (n_streams,) */
    const int32_t *thread;       /* (n_streams,) */
    const int32_t *slots;        /* (n_streams,) requests that a stream has at once */
    const int32_t *shared_slots; /* (n_ranks,) requests of a rank with OP_SHARED; NULL: none */
    const int64_t *comm_offsets; /* (n_comms + 1) in members */
    const int32_t *members;
    const int32_t *node;     /* (n_ranks,) */
    const double *factors;   /* (n_factors,) by op.block */
    const int64_t *priority; /* (n_ranks,) or NULL */
    int64_t buffered;        /* bytes up to which an OP_STANDARD is eager; -1: it is as it says */
};

struct op_time {
    int64_t begin, end;
};

/* Transfer of an OP_SEND; arrival -1: the message never arrived. `acted` is set for every operation: when its overhead
   was over; -1: never. */
struct transfer {
    int64_t start, arrival, posted;
    int64_t receive; /* operation of the receiver, -1: none */
    int64_t acted;
};

struct usage {
    int64_t computing, overhead, wait_message, wait_send;
    int64_t sends, receives, bytes, late_receives;
    int64_t wait_members, collective, wait_semaphore, wait_access;
    int64_t wait_cpu, busy_wait, context_switch, switches;
    int64_t wait_file;
    int64_t end;
};

struct run_time {
    int32_t application, reserved;
    int64_t begin, end;
};

/* From a time to another a thread of a stream waited for a processor, or that changed to it; from `end` on it has
   processor `cpu` of its node. Begin and end are the same where it took another processor than before and waited for
   none. */
struct cpu_wait {
    int64_t begin, end;
    int32_t stream, cpu;
};

enum replay_error {
    REPLAY_OK = 0,
    REPLAY_NO_MEMORY = 1,
    REPLAY_DEADLOCK = 2,   /* threads wait for ever: see `blocked` of each */
    REPLAY_MISMATCH = 3,   /* members of a communicator make different collective calls */
    REPLAY_BAD_OP = 4,     /* an operation that names what does not exist */
    REPLAY_STARVED = 5,    /* an application does not end, however often others do */
    REPLAY_TURNS = 6,      /* as a deadlock: busy waiters take turns, and their priorities let nobody else compute */
    REPLAY_UNREADABLE = 7, /* the file with the operations ends too early */
    REPLAY_TOO_LONG = 8,   /* something would happen at a time that no number holds */
    REPLAY_UNWRITABLE = 9  /* the file that takes waits for processors has no room */
};

struct result {
    int64_t end;
    int32_t error, application;
    int64_t stream, op; /* where the error is */
    int64_t other_stream, other_op;
    int64_t unreceived; /* messages sent and never received */
    int64_t events;
    int64_t busiest;   /* most messages that waited for the network at once */
    double mean_queue; /* how many did, on average from 0 to the end */
    int64_t n_runs;
    int64_t n_cpu_waits;
};

/* Quantities of a profile: threads that compute, that spend latency on or wait for messages, that are in collectives or
   wait for other members; messages that wait for the network. */
enum doing { DOING_COMPUTING = 0, DOING_MESSAGES = 1, DOING_COLLECTIVES = 2, DOING_QUEUE = 3, DOINGS = 4 };

/* How many more there are from this bin's end on than before its begin, and what those changes add to it (number x
   ns). */
struct bin {
    int64_t change, area;
};

/* Applications one after the other in all arrays; NULL where not wanted. */
struct output {
    struct op_time *times;      /* one for each operation */
    struct transfer *transfers; /* one for each operation */
    struct usage *usage;        /* one for each stream */
    int64_t *blocked;           /* one for each stream: operation it waits in at the end, -1: it is done */
    struct run_time *runs;
    int64_t runs_room;   /* closed systems have no more of them */
    struct bin *profile; /* n_bins for each enum doing, of bin_ns each; what lies behind the last one is left out */
    int64_t bin_ns;
    int32_t n_bins;
    int32_t cpu_waits_file;     /* descriptor of a file to which they go when there is no more room */
    struct cpu_wait *cpu_waits; /* of all but virtual threads on nodes that share processors, in order of their end */
    int64_t cpu_waits_room;
};

/* Return the value of a parameter that is drawn only once, as the machine is made. */
double replay_value(const struct quantity *quantity, uint64_t seed);

/* Replay programs on a machine; with `repetitions` above 0, as a closed system in which applications start again.
   Blocks. The caller owns all that is passed. Fills the arrays of `output` and *result. Returns an enum replay_error,
   which also stands in result->error. */
int replay_run(const struct machine *machine, const struct program *programs, int32_t n_programs, int32_t repetitions,
               const struct output *output, struct result *result);

#endif
