#include "handles/requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/skipped.h"
#include "record/thread.h"

/* An operation: in the table, or behind others that have its handle. */
struct operation {
    struct request request;         /* must be first: what others know is its address */
    uint64_t number;                /* from 1, in the order of posting */
    uint32_t poster;                /* the thread that posted it, from 1 */
    uint32_t holder;                /* the thread that has last held it, from 1; 0: none */
    uint64_t held_by;               /* that thread's call, from 1 */
    struct operation *next;         /* the poster's next one with this handle */
    struct operation *last, *other; /* of its oldest: its last behind it, and the oldest of another poster */
};

/* Open addressing with linear probing and backward-shift deletion: no tombstones. One slot a handle, which holds the
 * oldest operation of one thread; behind it stand the thread's later ones in a queue, so that hundred thousands may
 * share a handle, and the queues of other threads. */
static struct operation *table;
static size_t room, used;
static struct operation *spare; /* those outside of the table, for reuse */
static uint64_t numbers;        /* of operations so far */
static uint64_t holds;          /* calls that have held operations so far */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool requests_are_shared = true; /* until the thread level is known */

/* The operations of a thread that others hold are as many as there are threads in MPI. If there are more, MPI shares
 * the handle among operations that are complete, which nobody can tell apart. */
enum { FIRST_ROOM = 1024, MOST_LOOKED_AT = 64 };

void requests_start(bool many_threads)
{
    requests_are_shared = many_threads;
}

static void begin_change(void)
{
    if (requests_are_shared) pthread_mutex_lock(&lock);
}

static void end_change(void)
{
    if (requests_are_shared) pthread_mutex_unlock(&lock);
}

static size_t place_of_request(word handle)
{
    return (size_t)(((uint64_t)handle * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (room - 1);
}

/* The handle's slot, or the empty one where it belongs. */
static struct operation *probe(word handle)
{
    size_t i = place_of_request(handle);
    while (table[i].request.handle && table[i].request.handle != handle) i = (i + 1) & (room - 1);
    return &table[i];
}

static struct operation *find_operation_slot(word handle)
{
    struct operation *slot = used ? probe(handle) : NULL;
    return slot && slot->request.handle ? slot : NULL;
}

/* The only operation with its handle, as nearly always. */
static bool is_alone(const struct operation *slot)
{
    return !slot->next && !slot->other;
}

/* The first of a poster's operations that no other thread holds. Those that are held here come first, but for those
 * that the call `hold` has already: it may complete several with the same handle, and each is another one. Beyond those
 * that are looked at the first is held once more: when it is gone, the call finds the next. */
static struct operation *first_free(struct operation *o, uint32_t thread, uint64_t hold)
{
    struct operation *again = NULL;
    for (int looked_at = 0; o && looked_at < MOST_LOOKED_AT; o = o->next, looked_at++) {
        if (!o->holder || (o->holder == thread && o->held_by != hold)) return o;
        if (o->holder == thread && !again) again = o;
    }
    return o ? again : NULL;
}

/* Return true if a call rather means `a` than `b`: the one that is held here, else the older. */
static bool goes_before(const struct operation *a, const struct operation *b)
{
    return !a->holder == !b->holder ? a->number < b->number : a->holder;
}

/* Return the operation with this handle that a call means which is about to be made: the thread's own, else the
 * oldest that it was handed. An operation that MPI has completed but whose call is not recorded yet is held by
 * another thread. `hold`: the call, if it is holding them now; else 0. */
static struct operation *choose_operation(struct operation *slot, uint64_t hold)
{
    uint32_t me = self.index + 1;
    struct operation *chosen = NULL;
    for (struct operation *oldest = slot; oldest; oldest = oldest->other) {
        struct operation *o = first_free(oldest, me, hold);
        if (o && o->poster == me) return o;
        if (o && (!chosen || goes_before(o, chosen))) chosen = o;
    }
    if (chosen) return chosen;
    return slot->next ? slot->last : slot;
}

static struct operation *find_number(struct operation *slot, uint64_t number)
{
    for (struct operation *oldest = slot; oldest; oldest = oldest->other)
        for (struct operation *o = oldest; o && o->number <= number; o = o->next)
            if (o->number == number) return o;
    return NULL;
}

static struct request *find_request(struct held_request held)
{
    struct operation *slot = find_operation_slot(held.handle);
    if (!slot || held.operation == NO_OPERATION) return NULL;
    if (is_alone(slot)) return &slot->request;
    struct operation *o = held.operation ? find_number(slot, held.operation) : NULL;
    return o ? &o->request : &choose_operation(slot, 0)->request;
}

void requests_hold_shared(struct held_request *handles, int n)
{
    pthread_mutex_lock(&lock);
    const uint64_t hold = ++holds;
    for (int i = 0; i < n; i++) {
        struct operation *slot = find_operation_slot(handles[i].handle);
        struct operation *o = !slot || is_alone(slot) ? slot : choose_operation(slot, hold);
        handles[i].operation = o ? o->number : NO_OPERATION;
        if (!o) continue;
        o->holder = self.index + 1;
        o->held_by = hold;
    }
    pthread_mutex_unlock(&lock);
}

static bool grow_operations(void)
{
    size_t old_room = room;
    struct operation *old = table, *larger = calloc(room ? 2 * room : FIRST_ROOM, sizeof *larger);
    if (!larger) return false;
    room = room ? 2 * room : FIRST_ROOM;
    table = larger;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].request.handle) *probe(old[i].request.handle) = old[i];
    free(old);
    return true;
}

static void erase_slot(struct operation *slot)
{
    size_t hole = (size_t)(slot - table), i = hole;
    for (;;) {
        i = (i + 1) & (room - 1);
        if (!table[i].request.handle) break;
        size_t home = place_of_request(table[i].request.handle);
        if (((i - home) & (room - 1)) >= ((i - hole) & (room - 1))) {
            table[hole] = table[i];
            hole = i;
        }
    }
    table[hole].request.handle = 0;
    used--;
}

static void give_back_operation(struct operation *o)
{
    o->next = spare;
    spare = o;
}

/* Remove a poster's oldest operation: its next one takes its place, or if there is none another poster's. */
static void remove_oldest(struct operation *slot, struct operation *oldest)
{
    struct operation *next = oldest->next, *before = slot;
    if (next) {
        next->last = oldest->last;
        next->other = oldest->other;
        *oldest = *next;
        give_back_operation(next);
    } else if (oldest != slot) {
        while (before->other != oldest) before = before->other;
        before->other = oldest->other;
        give_back_operation(oldest);
    } else if (slot->other) {
        next = slot->other;
        *slot = *next;
        give_back_operation(next);
    } else {
        erase_slot(slot);
    }
}

static void remove_later(struct operation *oldest, struct operation *o)
{
    struct operation *before = oldest;
    while (before->next != o) before = before->next;
    before->next = o->next;
    if (oldest->last == o) oldest->last = before;
    give_back_operation(o);
}

static struct operation *oldest_of(struct operation *slot, uint32_t poster)
{
    while (slot && slot->poster != poster) slot = slot->other;
    return slot;
}

static void remove_operation(struct request *r)
{
    struct operation *o = (struct operation *)r;
    struct operation *slot = o >= table && o < table + room ? o : probe(r->handle);
    struct operation *oldest = oldest_of(slot, o->poster);
    if (oldest == o)
        remove_oldest(slot, o);
    else
        remove_later(oldest, o);
}

static struct operation *append_operation(struct operation *slot, uint32_t poster)
{
    struct operation *o = spare ? spare : malloc(sizeof *o), *oldest = oldest_of(slot, poster);
    if (!o) return NULL;
    if (spare) spare = spare->next;
    o->next = o->other = NULL;
    if (!oldest) {
        o->other = slot->other;
        slot->other = o;
    } else {
        if (oldest->next)
            oldest->last->next = o;
        else
            oldest->next = o;
        oldest->last = o;
    }
    return o;
}

struct request *requests_open(word handle)
{
    if (handle == abi.request_null || handle == 0) return NULL;
    begin_change();
    const uint32_t poster = self.index + 1;
    struct operation *o = NULL;
    if (2 * (used + 1) <= room || grow_operations()) {
        o = probe(handle);
        if (o->request.handle) {
            o = append_operation(o, poster);
        } else {
            o->request.handle = handle;
            o->next = o->other = NULL;
            used++;
        }
    }
    if (!o) {
        end_change();
        return NULL;
    }
    o->number = ++numbers;
    o->poster = poster;
    o->holder = 0;
    o->held_by = 0;
    return &o->request;
}

void requests_close(void)
{
    end_change();
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
    begin_change();
    struct request *r = find_request(held);
    if (r && r->active) return r;
    end_change();
    return NULL;
}

void requests_complete(struct request *r)
{
    if (r->persistent)
        r->active = r->cancelling = false;
    else
        remove_operation(r);
    end_change();
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
    begin_change();
    struct request *r = find_request(held);
    if (r) {
        r->active = true;
        r->posted = posted;
        r->call = call;
        *out = *r;
    }
    end_change();
    return r != NULL;
}

bool requests_look(struct held_request held, struct request *out)
{
    begin_change();
    struct request *r = find_request(held);
    if (r) *out = *r;
    end_change();
    return r != NULL;
}

void requests_mark_cancel(struct held_request held)
{
    begin_change();
    struct request *r = find_request(held);
    if (r) r->cancelling = true;
    end_change();
}

static void add_receive(struct open_receives *open, const struct request *r)
{
    if (r->active && (r->kind == REQUEST_RECV || r->kind == REQUEST_PARTITIONED_RECV))
        open_receives_add(open, r->posted);
}

void requests_open_receives(struct open_receives *open)
{
    begin_change();
    for (size_t i = 0; i < room; i++) {
        if (!table[i].request.handle) continue;
        for (const struct operation *oldest = &table[i]; oldest; oldest = oldest->other)
            for (const struct operation *o = oldest; o; o = o->next) add_receive(open, &o->request);
    }
    end_change();
}

static struct operation *find_open_receive(struct operation *slot)
{
    for (struct operation *oldest = slot; oldest; oldest = oldest->other)
        for (struct operation *o = oldest; o; o = o->next)
            if (o->request.active && o->request.kind == REQUEST_RECV) return o;
    return NULL;
}

bool requests_take_open_receive(size_t *from, struct request *out)
{
    struct operation *found = NULL;
    begin_change();
    for (; *from < room && !found; *from += !found)
        if (table[*from].request.handle) found = find_open_receive(&table[*from]);
    if (found) {
        *out = found->request;
        remove_operation(&found->request);
    }
    end_change();
    return found != NULL;
}

bool requests_drop(struct held_request held, struct request *out)
{
    begin_change();
    struct request *r = find_request(held);
    if (r) {
        *out = *r;
        remove_operation(r);
    }
    end_change();
    return r != NULL;
}
