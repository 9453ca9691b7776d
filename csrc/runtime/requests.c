#include "requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "skipped.h"

/* An operation behind others that have its handle. */
struct later {
    struct request request;
    struct later *next;
};

/* Open addressing with linear probing and backward-shift deletion: no tombstones. One slot a handle, which holds the
 * oldest operation and a queue of the later ones, so that hundred thousands may share a handle. */
struct slot {
    struct request oldest; /* must be first: an entry's address leads back to its slot */
    struct later *next, *last;
};

static struct slot *table;
static size_t room, used;
static struct later *spare; /* queue entries for reuse */
static bool locked = true;  /* until the thread level is known */
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

/* The handle's slot, or the empty one where it belongs. */
static struct slot *probe(word handle)
{
    size_t i = place(handle);
    while (table[i].oldest.handle && table[i].oldest.handle != handle) i = (i + 1) & (room - 1);
    return &table[i];
}

static struct request *find(word handle)
{
    if (!used) return NULL;
    struct slot *s = probe(handle);
    return s->oldest.handle ? &s->oldest : NULL;
}

static bool grow(void)
{
    size_t old_room = room;
    struct slot *old = table, *larger = calloc(room ? 2 * room : FIRST_ROOM, sizeof *larger);
    if (!larger) return false;
    room = room ? 2 * room : FIRST_ROOM;
    table = larger;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].oldest.handle) *probe(old[i].oldest.handle) = old[i];
    free(old);
    return true;
}

static void erase(struct slot *s)
{
    size_t hole = (size_t)(s - table), i = hole;
    for (;;) {
        i = (i + 1) & (room - 1);
        if (!table[i].oldest.handle) break;
        size_t home = place(table[i].oldest.handle);
        if (((i - home) & (room - 1)) >= ((i - hole) & (room - 1))) {
            table[hole] = table[i];
            hole = i;
        }
    }
    table[hole].oldest.handle = 0;
    used--;
}

/* The next operation with its handle, if any, takes the place of the oldest. */
static void remove_oldest(struct request *r)
{
    struct slot *s = (struct slot *)r;
    struct later *next = s->next;
    if (!next) {
        erase(s);
        return;
    }
    s->oldest = next->request;
    s->next = next->next;
    next->next = spare;
    spare = next;
}

static struct request *append(struct slot *s)
{
    struct later *entry = spare ? spare : malloc(sizeof *entry);
    if (!entry) return NULL;
    if (spare) spare = spare->next;
    entry->next = NULL;
    if (s->next)
        s->last->next = entry;
    else
        s->next = entry;
    s->last = entry;
    return &entry->request;
}

struct request *requests_open(word handle)
{
    if (handle == abi.request_null || handle == 0) return NULL;
    begin();
    struct request *entry = NULL;
    if (2 * (used + 1) <= room || grow()) {
        struct slot *s = probe(handle);
        if (s->oldest.handle) {
            entry = append(s);
        } else {
            s->oldest.handle = handle;
            s->next = NULL;
            used++;
            entry = &s->oldest;
        }
    }
    if (!entry) end();
    return entry;
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
        remove_oldest(r);
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

bool requests_start_persistent(word handle, uint64_t posted, uint16_t call, struct request *out)
{
    begin();
    struct request *r = find(handle);
    if (r) {
        r->active = true;
        r->posted = posted;
        r->call = call;
        *out = *r;
    }
    end();
    return r != NULL;
}

bool requests_look(word handle, struct request *out)
{
    begin();
    struct request *r = find(handle);
    if (r) *out = *r;
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

static void add_receive(struct open_receives *open, const struct request *r)
{
    if (r->active && (r->kind == REQUEST_RECV || r->kind == REQUEST_PARTITIONED_RECV))
        open_receives_add(open, r->posted);
}

void requests_open_receives(struct open_receives *open)
{
    begin();
    for (size_t i = 0; i < room; i++) {
        if (!table[i].oldest.handle) continue;
        add_receive(open, &table[i].oldest);
        for (const struct later *l = table[i].next; l; l = l->next) add_receive(open, &l->request);
    }
    end();
}

bool requests_drop(word handle, struct request *out)
{
    begin();
    struct request *r = find(handle);
    if (r) {
        *out = *r;
        remove_oldest(r);
    }
    end();
    return r != NULL;
}
