#include "run/internal/opening.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer/buffer_shares.h"
#include "clock/start.h"
#include "common/user_message.h"
#include "handles/comms.h"
#include "handles/objects.h"
#include "output/describe.h"
#include "output/job.h"
#include "output/output.h"
#include "places/places.h"
#include "record/compress.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "record/space_limit.h"
#include "record/spool.h"
#include "record/threads.h"
#include "run/labels.h"

struct run run;

static void write_attributes(void)
{
    describe_process(&rank_file.store, (struct identity){.rank = rank_file.rank,
                                                         .size = run.size,
                                                         .thread_level = run.thread_level,
                                                         .start_ticks = start_of_process()->clock.ticks,
                                                         .start_realtime_ns = start_of_process()->realtime_ns,
                                                         .buffer_bytes = division_user_bytes(),
                                                         .has_world = phase_reached() == PHASE_WORLD});
}

static void refuse_output(int error)
{
    const char *wanted = getenv("TRACELIB_OUTPUT");
    say("cannot create %s (%s): nothing is recorded; set TRACELIB_OUTPUT to a file in a directory you can write",
        wanted && wanted[0] ? wanted : "run.h5", strerror(error));
    run.stem[0] = '\0';
}

bool opening_reserve(bool by_job)
{
    char job[JOB_KEY_ROOM];
    const char *wanted = getenv("TRACELIB_OUTPUT");
    bool joins = by_job && run.size > 1 && job_key(job);
    run.first = true;
    int error =
        joins ? output_join(wanted, job, rank_file.rank, run.stem, &run.first) : output_reserve(wanted, run.stem);
    if (error) refuse_output(error);
    return !error;
}

/* It appears when it says where its buffers are, and they say that they are its: what a kill leaves is found. */
static int create_described(void)
{
    int error = output_rank_path(run.stem, rank_file.rank, rank_file.path);
    if (!error) threads_name_file(rank_file.path);
    if (!error) error = store_create(&rank_file.store, rank_file.path, !limit_drops() && compress_start());
    if (error) return error;
    limit_meet_file(&rank_file.store);
    write_attributes();
    store_put_integer(&rank_file.store, AT_LIMIT_BYTES, limit_bytes());
    spool_show_all();
    return store_publish(&rank_file.store, rank_file.path);
}

void opening_create(void)
{
    int error = create_described();
    if (error) {
        say("rank %d: cannot create %s (%s): this rank is not recorded", rank_file.rank, rank_file.path,
            strerror(error));
        return;
    }
    error = store_append(&rank_file.store, TABLE_CLOCK, &start_of_process()->clock,
                         1); /* with the next one, the clock's rate is known */
    if (!error) error = rank_file_clock();
    if (!error) error = labels_write(&rank_file.store);
    if (!error) error = places_started(&rank_file.store);
    if (!error && run.first) error = output_write_links(run.stem, run.size, start_of_process()->realtime_ns);
    if (error) rank_file_failed(error);
    debug("rank %d of %d records into %s", rank_file.rank, run.size, rank_file.path);
}

/* Join the earlier recording, which lies in a run of its own, `own`: it becomes the file of this rank. */
static void join_file(const char *own)
{
    char path[PATH_MAX];
    int error = output_rank_path(run.stem, rank_file.rank, path);
    bool moves = strcmp(path, rank_file.path) != 0;
    threads_name_file(""); /* while it moves, its buffers belong to it under either name */
    if (!error && moves && rename(rank_file.path, path)) error = errno;
    if (error) {
        say("rank %d: what it recorded before MPI_Init stays in %s.h5 (%s)", rank_file.rank, own, strerror(error));
        store_put_integer(&rank_file.store, AT_STATE, STATE_EXITED);
        close(rank_file.store.fd);
        opening_create();
        return;
    }
    if (moves) output_release(own);
    memcpy(rank_file.path, path, sizeof rank_file.path);
    threads_name_file(rank_file.path);
    write_attributes();
    if (run.first) error = output_write_links(run.stem, run.size, start_of_process()->realtime_ns);
    if (error) rank_file_failed(error);
    debug("rank %d of %d goes on in %s", rank_file.rank, run.size, rank_file.path);
}

/* A session may have written what every file begins with. */
void opening_with_mpi(const char *own)
{
    bool begun = comms_are_started();
    if (rank_file.store.fd >= 0)
        join_file(own);
    else
        opening_create();
    struct store *store = begun ? NULL : rank_file_store();
    int error = store ? comms_start(store, run.size) : 0;
    if (store && !error) error = objects_start(store);
    if (error) rank_file_failed(error);
}
