#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "comms.h"
#include "compress.h"
#include "counter_sampler.h"
#include "counters.h"
#include "describe.h"
#include "goodbye.h"
#include "job.h"
#include "labels.h"
#include "limit.h"
#include "meeting.h"
#include "message.h"
#include "objects.h"
#include "output.h"
#include "pmpi.h"
#include "requests.h"
#include "resolution.h"
#include "resolve.h"
#include "sampler.h"
#include "sessions.h"
#include "settings.h"
#include "spool.h"
#include "switch.h"
#include "sync.h"
#include "thread.h"
#include "variables.h"

enum { DEFAULT_BUFFER = 1 << 20 };

static struct {
    pid_t pid;                    /* whose memory this is: a child made without fork() runs no handler of ours */
    bool usable, started, closed; /* any thread reads these and `wanted`, without the lock */
    bool wanted, alone;           /* by the API; recording into a file of its own, without MPI so far */
    bool initialized;             /* MPI_Init has returned; without it `started` means that there was a session */
    bool first;                   /* of the ranks, which writes run.h5 */
    int rank, size, thread_level, store_error;
    uint64_t buffer_bytes, end_state; /* once closed */
    struct file_clock start;
    int64_t start_realtime_ns;
    char stem[PATH_MAX], path[PATH_MAX]; /* of the result, of the rank file */
    struct store store;
} run = {.store = {.fd = -1}};

static bool is(const bool *fact)
{
    return __atomic_load_n(fact, __ATOMIC_ACQUIRE);
}

static void set(bool *fact, bool value)
{
    __atomic_store_n(fact, value, __ATOMIC_RELEASE);
}

static pthread_once_t prepared = PTHREAD_ONCE_INIT, met = PTHREAD_ONCE_INIT;

/* Loaded into every process that inherits LD_PRELOAD, mpirun and sh among them: it only looks at the clock. */
__attribute__((constructor)) static void loaded(void)
{
    struct timespec now;
    clock_choose();
    clock_pair(&run.start.ticks, &run.start.monotonic_ns);
    clock_gettime(CLOCK_REALTIME, &now);
    run.start_realtime_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    debug("loaded into process %d", (int)getpid());
}

/* The file and the spools are the parent's; the child is not traced. */
static void forked(void)
{
    threads_disown();
    set(&run.usable, false);
    set(&run.started, false);
    run.alone = false;
    run.store.fd = -1;
    counter_sampler_forget();
}

static void prepare(void)
{
    const char *disable = getenv("TRACELIB_DISABLE");
    if (disable && disable[0] && disable[0] != '0') return;
    limit_start();
    run.buffer_bytes = limit_buffer_bytes(setting_bytes("TRACELIB_BUFFER", LEAST_BUFFER, MOST_BUFFER, DEFAULT_BUFFER));
    switch_start();
    clock_check();
    resolution_find();
    pthread_atfork(NULL, NULL, forked);
    run.pid = getpid();
    counters_prepare();
    counter_sampler_prepare();
    set(&run.usable, true);
}

bool run_prepare(void)
{
    pthread_once(&prepared, prepare);
    return is(&run.usable);
}

static void write_totals(const struct totals *totals, uint64_t state)
{
    store_put_integer(&run.store, AT_LOST_CALLS, totals->lost_calls);
    store_put_integer(&run.store, AT_LOST_ROWS, totals->lost_rows);
    if (!run.store_error) store_put_integer(&run.store, AT_STATE, state);
}

static void close_run(uint64_t state)
{
    counter_sampler_stop();
    run.end_state = state;
    set(&run.closed, true);
    if (!threads_close()) return;
    struct totals totals = threads_totals();
    if (!store_begin()) return;
    struct store *store = run_store();
    int error = store ? limit_close(store) : 0;
    if (error) run_store_failed(error);
    if (run.store.fd >= 0 && store_check(&run.store, run.path) == 0) write_totals(&totals, state);
    threads_remove_spools();
    store_end();
}

static void meet_mpi(void)
{
    bool known = abi_detect() && pmpi_resolve(); /* stand-ins for what the MPI lacks need it even untraced */
    if (!run_prepare()) return;
    if (known) {
        debug("MPI is %s", abi.name);
        return;
    }
    say("no MPI library that can be traced is loaded here; the program runs untraced (tracelib doctor tells more)");
    if (run.alone) close_run(STATE_EXITED);
    set(&run.usable, false);
    threads_shut();
}

void run_meet_mpi(void)
{
    pthread_once(&met, meet_mpi);
}

bool run_is_recording(void)
{
    return is(&run.usable) && is(&run.started) && !is(&run.closed);
}
bool run_is_closed(void)
{
    return is(&run.closed);
}
uint64_t run_buffer_bytes(void)
{
    return run.buffer_bytes;
}
int run_rank(void)
{
    return run.rank;
}
struct store *run_store(void)
{
    if (run.store.fd < 0 || run.store_error) return NULL;
    int error = store_check(&run.store, run.path);
    if (error) run_store_failed(error);
    return error ? NULL : &run.store;
}
const char *run_store_path(void)
{
    return run.path;
}
int run_store_error(void)
{
    return run.store_error ? run.store_error : ENOENT;
}

int run_store_clock(void)
{
    struct file_clock pair;
    clock_pair(&pair.ticks, &pair.monotonic_ns);
    return store_append(&run.store, TABLE_CLOCK, &pair, 1);
}

void run_store_failed(int error)
{
    if (run.store.fd < 0) return;   /* there never was a file: said at the start */
    if (run.store.finished) return; /* of a thread that goes on while exit() ends the process */
    if (!run.store_error) {
        run.store_error = error;
        say("rank %d: cannot write to %s.ranks (%s): what was flushed is kept, what comes now is counted and lost",
            run.rank, run.stem, strerror(error));
        if (store_check(&run.store, run.path) == 0) store_put_integer(&run.store, AT_STATE, STATE_FULL);
    }
}

static void write_attributes(void)
{
    describe_process(&run.store, (struct identity){.rank = run.rank,
                                                   .size = run.size,
                                                   .thread_level = run.thread_level,
                                                   .start_ticks = run.start.ticks,
                                                   .start_realtime_ns = run.start_realtime_ns,
                                                   .buffer_bytes = run.buffer_bytes});
}

static void refuse_output(int error)
{
    const char *wanted = getenv("TRACELIB_OUTPUT");
    say("cannot create %s (%s): nothing is recorded; set TRACELIB_OUTPUT to a file in a directory you can write",
        wanted && wanted[0] ? wanted : "run.h5", strerror(error));
    run.stem[0] = '\0';
}

/* The first name that is free. False: there is no place to write, which is said. */
static bool reserve_output(void)
{
    char job[JOB_KEY_ROOM];
    const char *wanted = getenv("TRACELIB_OUTPUT");
    bool joins = !run.initialized && !run.alone && run.size > 1 && job_key(job);
    run.first = true;
    int error = joins ? output_join(wanted, job, run.rank, run.stem, &run.first) : output_reserve(wanted, run.stem);
    if (error) refuse_output(error);
    return !error;
}

/* It appears when it says where its buffers are, and they say that they are its: what a kill leaves is found. */
static int create_described(void)
{
    int error = output_rank_path(run.stem, run.rank, run.path);
    if (!error) threads_name_file(run.path);
    if (!error) error = store_create(&run.store, run.path, !limit_drops() && compress_start());
    if (error) return error;
    limit_meet_file(&run.store);
    write_attributes();
    store_put_integer(&run.store, AT_LIMIT_BYTES, limit_bytes());
    spool_show_all();
    return store_publish(&run.store, run.path);
}

static void create_file(void)
{
    int error = create_described();
    if (error) {
        say("rank %d: cannot create %s (%s): this rank is not recorded", run.rank, run.path, strerror(error));
        return;
    }
    error = store_append(&run.store, TABLE_CLOCK, &run.start, 1); /* with the next one, the clock's rate is known */
    if (!error) error = run_store_clock();
    if (!error) error = labels_write(&run.store);
    if (!error && run.first) error = output_write_links(run.stem, run.size, run.start_realtime_ns);
    if (error) run_store_failed(error);
    debug("rank %d of %d records into %s", run.rank, run.size, run.path);
}

/* What was recorded before lies in a run of its own, `own`: it becomes the file of this rank. */
static void join_file(const char *own)
{
    char path[PATH_MAX];
    int error = output_rank_path(run.stem, run.rank, path);
    bool moves = strcmp(path, run.path) != 0;
    threads_name_file(""); /* while it moves, its buffers belong to it under either name */
    if (!error && moves && rename(run.path, path)) error = errno;
    if (error) {
        say("rank %d: what it recorded before MPI_Init stays in %s.h5 (%s)", run.rank, own, strerror(error));
        store_put_integer(&run.store, AT_STATE, STATE_EXITED);
        close(run.store.fd);
        create_file();
        return;
    }
    if (moves) output_release(own);
    memcpy(run.path, path, sizeof run.path);
    threads_name_file(run.path);
    write_attributes();
    if (run.first) error = output_write_links(run.stem, run.size, run.start_realtime_ns);
    if (error) run_store_failed(error);
    debug("rank %d of %d goes on in %s", run.rank, run.size, run.path);
}

static void open_alone(void)
{
    static bool tried;
    if (tried || !run.usable || !is(&run.wanted) || run.started || run.closed) return;
    tried = true;
    run.size = 1;
    settings_tell(true);
    if (!reserve_output()) return;
    create_file();
    run.alone = run.store.fd >= 0;
    if (!run.alone) return;
    counters_started_alone(&run.store);
    counter_sampler_start(true);
}

void run_need_file(void)
{
    if (is(&run.started) || is(&run.closed) || !is(&run.wanted) || !store_begin()) return;
    if (run.store.fd < 0) open_alone();
    store_end();
}

void run_wanted(void)
{
    set(&run.wanted, true);
    if (!resolve_mpi_expected()) run_need_file();
}

/* The file of this rank, and what every file begins with. Between store_begin and store_end. */
static void open_file(const char *own)
{
    bool goes_on = run.store.fd >= 0, of_session = goes_on && !run.alone;
    if (goes_on)
        join_file(own);
    else
        create_file();
    run.alone = false;
    struct store *store = of_session ? NULL : run_store();
    int error = store ? comms_start(store, run.size) : 0;
    if (store && !error) error = objects_start(store);
    if (error) run_store_failed(error);
}

void run_started(void)
{
    if (!run.usable || run.initialized) return;
    if (!store_begin()) return;
    bool had_session = run.started;
    run.initialized = true;
    set(&run.started, true);
    store_end();
    char own[PATH_MAX], agreed[PATH_MAX];
    memcpy(own, run.stem, sizeof own);
    all_ranks = abi.world;
    pmpi.Comm_rank(abi.world, &run.rank);
    pmpi.Comm_size(abi.world, &run.size);
    pmpi.Query_thread(&run.thread_level);
    comms_know_world();
    settings_tell(run.rank == 0);
    if (!had_session) requests_start(run.thread_level == abi.thread_multiple);
    if (run.rank == 0 && !run.stem[0]) reserve_output();
    run.first = run.rank == 0;
    memcpy(agreed, run.stem, sizeof agreed);
    bool first_meeting = meeting_agree(run.rank, agreed);
    if (!agreed[0]) {
        close_run(STATE_EXITED); /* what came before MPI_Init has no place to go either */
        set(&run.usable, false);
        thread_set_gate(&self, GATE_SHUT);
        return;
    }
    if (store_begin()) {
        memcpy(run.stem, agreed, sizeof run.stem);
        open_file(own);
        store_end();
    }
    if (first_meeting) meeting_measure(run.stem, run.rank, run.size, abi.world);
    if (!had_session) switch_start_clock();
    counter_sampler_start(run.rank == 0);
}

/* Between store_begin and store_end. */
static void start_session_file(void)
{
    char own[PATH_MAX];
    memcpy(own, run.stem, sizeof own);
    if (!sessions_place(&run.rank, &run.size)) return;
    run.thread_level = abi.thread_multiple; /* another session may have another */
    settings_tell(run.rank == 0);
    set(&run.started, true);
    if (reserve_output()) open_file(own);
    switch_start_clock();
    counter_sampler_start(run.rank == 0);
}

void run_session_opened(word session)
{
    sessions_opened(session);
    if (!run.usable || !store_begin()) return;
    if (!run.started && !run.closed) start_session_file();
    struct store *store = run.closed ? NULL : run_store();
    if (store) store_put_integer(store, AT_STATE, STATE_RECORDING);
    store_end();
}

/* Once, and whether or not MPI_Init was called: threads may be in both, in another order on other ranks. */
void run_session_joined(word comm)
{
    static bool joined;
    char stem[PATH_MAX];
    int size = 0;
    word ours;
    pmpi.Comm_size(comm, &size);
    if (!run.usable || size != run.size || __atomic_exchange_n(&joined, true, __ATOMIC_RELAXED)) return;
    if (!sessions_join(&ours)) return;
    word before = all_ranks;
    all_ranks = pmpi_handle(&ours);
    memcpy(stem, run.stem, sizeof stem);
    if (meeting_agree(run.rank, stem)) {
        meeting_measure(stem, run.rank, run.size, comm);
        sync_forget();
    }
    all_ranks = before;
    pmpi.Comm_free(&ours);
}

void run_session_closing(word session)
{
    sessions_closing(session);
}

/* There may be another session later, or this was the last. */
void run_session_closed(void)
{
    if (!run.usable || !run.started || run.initialized || sessions_are_open()) return;
    thread_flush(&self);
    if (!store_begin()) return;
    struct store *store = run_store();
    if (store) store_put_integer(store, AT_STATE, STATE_FINALIZED);
    store_end();
}

void run_finalizing(void)
{
    static bool asked;
    struct counting_pause pause;
    uint64_t bytes = 0;
    bool recorded = false; /* this call */
    if (!run.initialized || !run.usable || asked) return;
    asked = true;
    all_ranks = abi.world;
    counting_hold(&self, &pause);
    meeting_clocks(run.rank, run.size);
    if (store_begin()) {
        bytes = store_bytes(&run.store);
        recorded = thread_gate(&self) != GATE_SHUT && switch_is_on();
        store_end();
    }
    goodbye_gather(run.rank, run.size, bytes, recorded);
    counting_resume(&self, &pause);
}

void run_finalized(void)
{
    if (!run.initialized || !run.usable) return;
    switch_join(&self);
    close_run(STATE_FINALIZED);
    sampler_check();
    if (run.rank == 0) goodbye_say(run.size, run.stem);
}

void run_aborting(void)
{
    if (run.started && run.usable) close_run(STATE_EXITED);
}

static void finish_file(void)
{
    if (!store_begin()) return;
    struct store *store = run_store();
    if (store) store_finish(store);
    if (run.alone) goodbye_say_alone(&run.store, run.stem);
    if (run.started && !run.initialized && run.rank == 0 && store) goodbye_say_rank(store, run.size, run.stem);
    store_end();
}

/* At exit: what came after MPI_Finalize, or all that is left of a program that never called it. */
__attribute__((destructor)) static void unloaded(void)
{
    if (!run.usable || getpid() != run.pid) return;
    bool closed = run.closed; /* MPI_Abort may end in exit() */
    run_need_file();
    if (run.alone) {
        close_run(STATE_FINALIZED);
    } else if (run.started) {
        bool ended = !run.initialized && !sessions_are_open();
        close_run(closed ? run.end_state : ended ? STATE_FINALIZED : STATE_EXITED);
    } else if (threads_close() && store_begin()) {
        threads_remove_spools(); /* no MPI and no file: nothing to keep */
        store_end();
    }
    finish_file();
}
