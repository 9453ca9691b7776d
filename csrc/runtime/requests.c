#include "requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "skipped.h"
#include "thread.h"

struct operation {
    struct request request; /* must be first: what others know is its address */
    uint64_t number;        /* of shared ones: from 1, in the order of posting */
    uint32_t holder;        /* the thread that has last held it, from 1; 0: none */
};

/* An operation behind others that have its handle. */
struct later {
    struct operation operation;
    struct later *next;
};

/* Open addressing with linear probing and backward-shift deletion: no tombstones. One slot a handle, which holds the
 * oldest operation and a queue of the later ones, so that hundred thousands may share a handle. */
struct slot {
    struct operation oldest; /* must be first: an operation's address leads back to its slot */
    struct later *next, *last;
};

static struct slot *table;
static size_t room, used;
static struct later *spare; /* queue entries for reuse */
static uint64_t numbers;    /* of shared operations so far */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool requests_are_shared = true; /* until the thread level is known */

/* Several operations with one handle that each have a thread are as many as there are threads in MPI. If there are
 * more, MPI shares the handle among operations that are complete, which nobody can tell apart. */
enum { FIRST_ROOM = 1024, MOST_LOOKED_AT = 64 };

void requests_start(bool many_threads)
{
    requests_are_shared = many_threads;
}

static void begin(void)
{
    if (requests_are_shared) pthread_mutex_lock(&lock);
}

static void end(void)
{
    if (requests_are_shared) pthread_mutex_unlock(&lock);
}

static size_t place(word handle)
{
    return (size_t)(((uint64_t)handle * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (room - 1);
}

/* The handle's slot, or the empty one where it belongs. */
static struct slot *probe(word handle)
{
    size_t i = place(handle);
    while (table[i].oldest.request.handle && table[i].oldest.request.handle != handle) i = (i + 1) & (room - 1);
    return &table[i];
}

static struct slot *find_slot(word handle)
{
    struct slot *s = used ? probe(handle) : NULL;
    return s && s->oldest.request.handle ? s : NULL;
}

/* Of the operations that have the handle, the one that a call means which is about to be made: those that MPI has
 * completed but whose call is not recorded yet are held by other threads. */
static struct operation *choose(struct slot *s)
{
    uint32_t me = self.index + 1;
    struct operation *free = s->oldest.holder ? NULL : &s->oldest;
    if (!s->next || s->oldest.holder == me) return &s->oldest;
    int looked_at = 1;
    for (struct later *l = s->next; l && looked_at < MOST_LOOKED_AT; l = l->next, looked_at++) {
        if (l->operation.holder == me) return &l->operation;
        if (!free && !l->operation.holder) free = &l->operation;
    }
    return free ? free : &s->last->operation;
}

static struct operation *find_number(struct slot *s, uint64_t number)
{
    if (s->oldest.number == number) return &s->oldest;
    int looked_at = 1;
    for (struct later *l = s->next; l && looked_at < MOST_LOOKED_AT; l = l->next, looked_at++)
        if (l->operation.number == number) return &l->operation;
    return NULL;
}

static struct request *find(struct held_request held)
{
    struct slot *s = find_slot(held.handle);
    if (!s || held.operation == NO_OPERATION) return NULL;
    if (!requests_are_shared) return &s->oldest.request;
    struct operation *o = held.operation ? find_number(s, held.operation) : NULL;
    return o ? &o->request : &choose(s)->request;
}

void requests_hold_shared(struct held_request *handles, int n)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        struct slot *s = find_slot(handles[i].handle);
        struct operation *o = s ? choose(s) : NULL;
        handles[i].operation = o ? o->number : NO_OPERATION;
        if (o) o->holder = self.index + 1;
    }
    pthread_mutex_unlock(&lock);
}

static bool grow(void)
{
    size_t old_room = room;
    struct slot *old = table, *larger = calloc(room ? 2 * room : FIRST_ROOM, sizeof *larger);
    if (!larger) return false;
    room = room ? 2 * room : FIRST_ROOM;
    table = larger;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].oldest.request.handle) *probe(old[i].oldest.request.handle) = old[i];
    free(old);
    return true;
}

static void erase(struct slot *s)
{
    size_t hole = (size_t)(s - table), i = hole;
    for (;;) {
        i = (i + 1) & (room - 1);
        if (!table[i].oldest.request.handle) break;
        size_t home = place(table[i].oldest.request.handle);
        if (((i - home) & (room - 1)) >= ((i - hole) & (room - 1))) {
            table[hole] = table[i];
            hole = i;
        }
    }
    table[hole].oldest.request.handle = 0;
    used--;
}

static void give_back(struct later *entry)
{
    entry->next = spare;
    spare = entry;
}

/* The next operation with its handle, if any, takes the place of the oldest. */
static void remove_oldest(struct slot *s)
{
    struct later *next = s->next;
    if (!next) {
        erase(s);
        return;
    }
    s->oldest = next->operation;
    s->next = next->next;
    give_back(next);
}

static void remove_later(struct slot *s, struct operation *o)
{
    struct later *before = NULL, *entry = s->next;
    while (&entry->operation != o) {
        before = entry;
        entry = entry->next;
    }
    if (before)
        before->next = entry->next;
    else
        s->next = entry->next;
    if (s->last == entry) s->last = before;
    give_back(entry);
}

static void remove_operation(struct request *r)
{
    struct slot *s = requests_are_shared ? probe(r->handle) : (struct slot *)r;
    if (&s->oldest.request == r)
        remove_oldest(s);
    else
        remove_later(s, (struct operation *)r);
}

static struct operation *append(struct slot *s)
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
    return &entry->operation;
}

struct request *requests_open(word handle)
{
    if (handle == abi.request_null || handle == 0) return NULL;
    begin();
    struct operation *entry = NULL;
    if (2 * (used + 1) <= room || grow()) {
        struct slot *s = probe(handle);
        if (s->oldest.request.handle) {
            entry = append(s);
        } else {
            s->oldest.request.handle = handle;
            s->next = NULL;
            used++;
            entry = &s->oldest;
        }
    }
    if (!entry) {
        end();
        return NULL;
    }
    if (requests_are_shared) {
        entry->number = ++numbers;
        entry->holder = 0;
    }
    return &entry->request;
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

struct request *requests_find_active(struct held_request held)
{
    begin();
    struct request *r = find(held);
    if (r && r->active) return r;
    end();
    return NULL;
}

void requests_complete(struct request *r)
{
    if (r->persistent)
        r->active = r->cancelling = false;
    else
        remove_operation(r);
    end();
}

bool requests_take(struct held_request held, struct request *out)
{
    struct request *r = requests_find_active(held);
    if (!r) return false;
    *out = *r;
    requests_complete(r);
    return true;
}

bool requests_start_persistent(struct held_request held, uint64_t posted, uint16_t call, struct request *out)
{
    begin();
    struct request *r = find(held);
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
    struct request *r = find((struct held_request){handle, 0});
    if (r) *out = *r;
    end();
    return r != NULL;
}

void requests_mark_cancel(struct held_request held)
{
    begin();
    struct request *r = find(held);
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
        if (!table[i].oldest.request.handle) continue;
        add_receive(open, &table[i].oldest.request);
        for (const struct later *l = table[i].next; l; l = l->next) add_receive(open, &l->operation.request);
    }
    end();
}

bool requests_drop(struct held_request held, struct request *out)
{
    begin();
    struct request *r = find(held);
    if (r) {
        *out = *r;
        remove_operation(r);
    }
    end();
    return r != NULL;
}
