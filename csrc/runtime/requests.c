#include "requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Open addressing with linear probing and backward-shift deletion: no tombstones, and operations that share a
 * handle stay in the order in which they came. */
static struct request *table;
static size_t room, used;
static bool locked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { FIRST_ROOM = 1024 };

void requests_start(bool many_threads)
{
    locked = many_threads;
}

static void begin(void)
{
    if (locked) pthread_mutex_lock(&lock);
}

static void end(void)
{
    if (locked) pthread_mutex_unlock(&lock);
}

static size_t place(word handle)
{
    return (size_t)(((uint64_t)handle * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (room - 1);
}

static struct request *find(word handle)
{
    if (!used) return NULL;
    for (size_t i = place(handle); table[i].handle; i = (i + 1) & (room - 1))
        if (table[i].handle == handle) return &table[i];
    return NULL;
}

static struct request *insert(word handle)
{
    size_t i = place(handle);
    while (table[i].handle) i = (i + 1) & (room - 1);
    table[i].handle = handle;
    used++;
    return &table[i];
}

static bool grow(void)
{
    size_t old_room = room;
    struct request *old = table, *larger = calloc(room ? 2 * room : FIRST_ROOM, sizeof *larger);
    if (!larger) return false;
    room = room ? 2 * room : FIRST_ROOM;
    table = larger;
    used = 0;
    /* Begin behind a gap, so that entries of one handle are met in their order. */
    size_t start = 0;
    while (start < old_room && old[start].handle) start++;
    for (size_t n = 0; n < old_room; n++) {
        const struct request *r = &old[(start + n) & (old_room - 1)];
        if (r->handle) *insert(r->handle) = *r;
    }
    free(old);
    return true;
}

static void erase(struct request *r)
{
    size_t hole = (size_t)(r - table), i = hole;
    for (;;) {
        i = (i + 1) & (room - 1);
        if (!table[i].handle) break;
        size_t home = place(table[i].handle);
        if (((i - home) & (room - 1)) >= ((i - hole) & (room - 1))) {
            table[hole] = table[i];
            hole = i;
        }
    }
    table[hole].handle = 0;
    used--;
}

struct request *requests_open(word handle)
{
    if (handle == abi.request_null || handle == 0) return NULL;
    begin();
    if (2 * (used + 1) > room && !grow()) {
        end();
        return NULL;
    }
    return insert(handle);
}

void requests_close(void)
{
    end();
}

void requests_add(const struct request *r)
{
    struct request *entry = requests_open(r->handle);
    if (!entry) return;
    *entry = *r;
    requests_close();
}

struct request *requests_find_active(word handle)
{
    begin();
    struct request *r = find(handle);
    if (r && r->active) return r;
    end();
    return NULL;
}

void requests_complete(struct request *r)
{
    if (r->persistent)
        r->active = r->cancelling = false;
    else
        erase(r);
    end();
}

bool requests_take(word handle, struct request *out)
{
    struct request *r = requests_find_active(handle);
    if (!r) return false;
    *out = *r;
    requests_complete(r);
    return true;
}

bool requests_start_persistent(word handle, uint64_t posted, struct request *out)
{
    begin();
    struct request *r = find(handle);
    if (r) {
        r->active = true;
        r->posted = posted;
        *out = *r;
    }
    end();
    return r != NULL;
}

void requests_mark_cancel(word handle)
{
    begin();
    struct request *r = find(handle);
    if (r) r->cancelling = true;
    end();
}

bool requests_drop(word handle, struct request *out)
{
    begin();
    struct request *r = find(handle);
    if (r) {
        *out = *r;
        erase(r);
    }
    end();
    return r != NULL;
}
