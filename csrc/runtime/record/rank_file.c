#include "record/rank_file.h"

#include <errno.h>
#include <string.h>

#include "clock/clock.h"
#include "common/user_message.h"

struct rank_file rank_file = {.store = {.fd = -1}};

static void (*create_on_demand)(void);

struct store *rank_file_store(void)
{
    if (rank_file.store.fd < 0 || rank_file.error) return NULL;
    int error = store_check(&rank_file.store, rank_file.path);
    if (error) rank_file_failed(error);
    return error ? NULL : &rank_file.store;
}

int rank_file_error(void)
{
    return rank_file.error ? rank_file.error : ENOENT;
}

/* The length of NAME.ranks in NAME.ranks/000000.h5. */
static int folder_length(void)
{
    const char *end = strrchr(rank_file.path, '/');
    return end ? (int)(end - rank_file.path) : 0;
}

void rank_file_failed(int error)
{
    struct store *store = &rank_file.store;
    if (store->fd < 0) return;   /* there never was a file: said at the start */
    if (store->finished) return; /* of a thread that goes on while exit() ends the process */
    if (rank_file.error) return;
    rank_file.error = error;
    say("rank %d: cannot write to %.*s (%s): calls flushed before are kept; later ones are only counted, not recorded",
        rank_file.rank, folder_length(), rank_file.path, strerror(error));
    if (store_check(store, rank_file.path) == 0) store_put_integer(store, AT_STATE, STATE_FULL);
}

int rank_file_clock(void)
{
    struct file_clock pair;
    clock_pair(&pair.ticks, &pair.monotonic_ns);
    return store_append(&rank_file.store, TABLE_CLOCK, &pair, 1);
}

void rank_file_demand(void)
{
    void (*create)(void) = __atomic_load_n(&create_on_demand, __ATOMIC_ACQUIRE);
    if (create) create();
}

void rank_file_on_demand(void (*create)(void))
{
    __atomic_store_n(&create_on_demand, create, __ATOMIC_RELEASE);
}
