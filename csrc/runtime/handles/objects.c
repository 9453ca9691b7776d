#include "handles/objects.h"

#include <pthread.h>
#include <stdlib.h>

#include "clock/clock.h"
#include "handles/comms.h"
#include "handles/internal/handles.h"
#include "record/rank_file.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_map maps[OBJECTKIND_FILE + 1]; /* by kind; entries are never freed */
static uint32_t created;                            /* rows of `objects`; read without the lock */
static uint64_t generation = 1;                     /* changes whenever a handle gets or loses its meaning */

int objects_start(struct store *store)
{
    __atomic_store_n(&created, 1, __ATOMIC_RELAXED);
    return store_append(store, TABLE_OBJECTS, &(struct file_object){.kind = OBJECTKIND_NONE}, 1);
}

static void write_object_row(const struct file_object *row)
{
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    int error = store ? store_append(store, TABLE_OBJECTS, row, 1) : 0;
    if (error) rank_file_failed(error);
    store_end();
}

const struct object *objects_created(const struct object *like, word comm, struct file_object row)
{
    struct object *o = __atomic_load_n(&created, __ATOMIC_RELAXED) ? malloc(sizeof *o) : NULL;
    if (!o) return NULL;
    const struct comm *c = comms_find(comm);
    *o = *like;
    row.id = comms_object_id(c, o->kind);
    row.created = clock_ticks();
    row.kind = o->kind;
    row.comm = o->comm = c->index;
    pthread_mutex_lock(&lock);
    o->index = __atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
    write_object_row(&row);
    handles_put(&maps[o->kind], o->handle, o);
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return o;
}

struct object *objects_find(enum objectkind kind, word handle)
{
    static __thread struct {
        word handle;
        uint64_t generation;
        struct object *object;
    } recent[OBJECTKIND_FILE + 1];
    uint64_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (recent[kind].handle == handle && recent[kind].generation == now) return recent[kind].object;
    pthread_mutex_lock(&lock);
    struct object *o = handles_find(&maps[kind], handle);
    recent[kind].handle = handle;
    recent[kind].generation = generation;
    recent[kind].object = o;
    pthread_mutex_unlock(&lock);
    return o;
}

void objects_freed(const struct object *object)
{
    pthread_mutex_lock(&lock);
    if (handles_find(&maps[object->kind], object->handle) == object)
        handles_remove(&maps[object->kind], object->handle);
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}
