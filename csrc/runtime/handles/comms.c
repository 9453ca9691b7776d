#include "handles/comms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock/clock.h"
#include "handles/ids.h"
#include "handles/internal/handles.h"
#include "handles/internal/progression.h"
#include "handles/sessions.h"
#include "mpi/pmpi.h"
#include "record/rank_file.h"

struct comm comms_world;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct comm none;

static struct handle_map map; /* entries are never freed, so that a pointer that a wrapper holds stays good */

static word world_group;        /* of MPI_COMM_WORLD; 0 before MPI_Init */
static uint64_t created;        /* rows of `communicators`; read without the lock */
static uint64_t generation = 1; /* changes whenever a handle gets or loses its meaning */

/* Without MPI_Init the world is that of a session, and asked for each time: it goes with its session. */
static bool translate(word group, int size, const int *ranks, int *in_world)
{
    word world = world_group, of_session = 0;
    if (!world && !sessions_world(&of_session)) return false;
    if (!world) world = of_session;
    pmpi.Group_translate_ranks(group, size, ranks, pmpi_handle(&world), in_world);
    if (of_session) pmpi.Group_free(&of_session);
    return true;
}

uint32_t *comms_world_ranks(word group, uint32_t size)
{
    size_t room = size ? size : 1;
    int *ranks = malloc(2 * room * sizeof *ranks), *in_world = ranks ? ranks + size : NULL;
    uint32_t *members = malloc(room * sizeof *members);
    for (uint32_t i = 0; ranks && i < size; i++) ranks[i] = (int)i;
    if (!ranks || !members || !translate(group, (int)size, ranks, in_world)) {
        free(members);
        members = NULL;
    }
    for (uint32_t i = 0; members && i < size; i++) members[i] = in_world[i] < 0 ? UINT32_MAX : (uint32_t)in_world[i];
    free(ranks);
    return members;
}

/* Return the world ranks of a group that nobody else needs, and free the group. */
static uint32_t *take_world_ranks(word *group, uint32_t size)
{
    uint32_t *members = comms_world_ranks(pmpi_handle(group), size);
    pmpi.Group_free(group);
    return members;
}

/* Append a group's members, and write to `said` how the row of its communicator names them. */
static int append_group(struct store *store, const uint32_t *members, uint32_t size, uint64_t *said)
{
    *said = !size ? 0 : !members ? GROUP_UNKNOWN : progression_of(members, size);
    if (*said || !size) return 0;
    *said = store->table[TABLE_MEMBERS].rows;
    return store_append(store, TABLE_MEMBERS, members, size);
}

static void append_row(struct store *store, const struct comm *c, const uint32_t *members, const uint32_t *remote)
{
    struct file_communicator row = {.id = c->id,
                                    .created = clock_ticks(),
                                    .size = c->size,
                                    .remote_size = c->remote_size,
                                    .rank = c->rank,
                                    .flags = c->flags};
    int error = append_group(store, members, c->size, &row.members);
    if (!error) error = append_group(store, remote, c->remote_size, &row.remote);
    if (!error) error = store_append(store, TABLE_COMMUNICATORS, &row, 1);
    if (error) rank_file_failed(error);
}

static void write_comm_row(const struct comm *c, const uint32_t *members, const uint32_t *remote)
{
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    if (store) append_row(store, c, members, remote);
    store_end();
}

/* Members of a communicator: ranks in world. */
struct members {
    uint32_t *local, *remote; /* NULL: unknown, or an intracommunicator */
    int size, remote_size;
};

static struct members members_of(word handle)
{
    struct members m = {NULL, NULL, 0, 0};
    int inter = 0;
    word group = 0;
    pmpi.Comm_size(handle, &m.size);
    pmpi.Comm_test_inter(handle, &inter);
    pmpi.Comm_group(handle, &group);
    m.local = take_world_ranks(&group, (uint32_t)m.size);
    if (inter) {
        pmpi.Comm_remote_size(handle, &m.remote_size);
        pmpi.Comm_remote_group(handle, &group);
        m.remote = take_world_ranks(&group, (uint32_t)m.remote_size);
    }
    return m;
}

static void free_members(struct members *m)
{
    free(m->local);
    free(m->remote);
}

/* The id of the next communicator with these members that is made from `parent`; 0 if it cannot be known. */
static uint64_t next_id(uint64_t parent, const struct members *m)
{
    if (!m->local || (m->remote_size && !m->remote)) return 0;
    return ids_derive(parent, m->local, (uint32_t)m->size, m->remote, (uint32_t)m->remote_size);
}

bool comms_are_started(void)
{
    return __atomic_load_n(&created, __ATOMIC_ACQUIRE) != 0;
}

/* A new entry. Under the lock. */
static struct comm *add_comm(word handle, const struct members *m, uint64_t id)
{
    struct comm *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    int rank = 0;
    pmpi.Comm_rank(handle, &rank);
    *c = (struct comm){.handle = handle,
                       .index = (uint32_t)__atomic_fetch_add(&created, 1, __ATOMIC_RELAXED),
                       .size = (uint32_t)m->size,
                       .remote_size = (uint32_t)m->remote_size,
                       .rank = rank,
                       .id = id};
    write_comm_row(c, m->local, m->remote);
    handles_put(&map, handle, c);
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    return c;
}

/* The handle may have been freed where we could not see it. Under the lock. */
static void replace(word handle, const struct members *m, uint64_t id)
{
    handles_remove(&map, handle);
    add_comm(handle, m, id);
}

/* First met in use. Under the lock. */
static struct comm *add_unknown(word handle)
{
    struct members m = members_of(handle);
    struct comm *c = add_comm(handle, &m, 0);
    free_members(&m);
    return c;
}

void comms_know_world(void)
{
    pmpi.Comm_group(abi.world, &world_group);
}

int comms_start(struct store *store, int size)
{
    int rank = rank_file.rank;
    uint32_t me = (uint32_t)rank;
    comms_world =
        (struct comm){.handle = abi.world, .index = COMM_INDEX_WORLD, .size = (uint32_t)size, .rank = rank, .id = 1};
    static struct comm comm_self;
    comm_self = (struct comm){.handle = abi.self, .index = COMM_INDEX_SELF, .size = 1, .id = 2 + (uint64_t)me};
    struct file_communicator rows[] = {
        {.rank = -1},
        {.id = 1, .size = (uint32_t)size, .rank = rank, .members = progression(0, 1)},
        {.id = comm_self.id, .size = 1, .members = progression(me, 1)},
    };
    handles_put(&map, abi.self, &comm_self); /* without the lock, which comes before the store's; nobody is there yet */
    __atomic_store_n(&created, 3, __ATOMIC_RELEASE);
    return store_append(store, TABLE_COMMUNICATORS, rows, 3);
}

/* Communicator that this thread found last, by handle; good until any communicator is made or freed. */
struct found {
    word handle;
    uint64_t generation;
    const struct comm *comm;
};
enum { FOUND = 8 };
static __thread struct found recent[FOUND];

const struct comm *comms_slow_find(word handle)
{
    struct found *f = &recent[(handle ^ handle >> 4 ^ handle >> 9) & (FOUND - 1)];
    uint64_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (f->handle == handle && f->generation == now) return f->comm;
    if (handle == abi.comm_null || !comms_are_started()) return &none;
    pthread_mutex_lock(&lock);
    const struct comm *c = handles_find(&map, handle);
    if (!c) c = add_unknown(handle);
    if (c) *f = (struct found){handle, generation, c};
    pthread_mutex_unlock(&lock);
    return c ? c : &none;
}

void comms_created(word handle, word parent)
{
    if (handle == abi.comm_null || !comms_are_started()) return;
    const struct comm *from = parent == abi.comm_null ? &none : comms_find(parent);
    struct members m = members_of(handle);
    pthread_mutex_lock(&lock);
    replace(handle, &m, parent == abi.comm_null || from->id != 0 ? next_id(from->id, &m) : 0);
    pthread_mutex_unlock(&lock);
    free_members(&m);
}

uint64_t comms_promise(word parent)
{
    const struct comm *from = comms_find(parent);
    if (from->id == 0) return 0;
    struct members m = members_of(parent);
    pthread_mutex_lock(&lock);
    uint64_t id = next_id(from->id, &m);
    pthread_mutex_unlock(&lock);
    free_members(&m);
    return id;
}

void comms_promised(word handle, uint64_t id)
{
    if (handle == abi.comm_null || !comms_are_started()) return;
    struct members m = members_of(handle);
    pthread_mutex_lock(&lock);
    replace(handle, &m, id);
    pthread_mutex_unlock(&lock);
    free_members(&m);
}

/* Nobody knows more of processes outside our world: the communicator's origin tells such communicators apart.
 * Within our world both sides must come to the same id, and they have nothing in common but each other. */
void comms_connected(word handle, word parent)
{
    if (handle == abi.comm_null || !comms_are_started()) return;
    const struct comm *from = parent == abi.comm_null ? &none : comms_find(parent);
    struct members m = members_of(handle);
    bool outside = true;
    for (int i = 0; m.remote && i < m.remote_size; i++) outside = outside && m.remote[i] == UINT32_MAX;
    pthread_mutex_lock(&lock);
    bool unknown = outside && parent != abi.comm_null && from->id == 0;
    replace(handle, &m, unknown ? 0 : next_id(outside ? from->id : 0, &m));
    pthread_mutex_unlock(&lock);
    free_members(&m);
}

void comms_found(word handle)
{
    if (handle != abi.comm_null && comms_index(handle) == COMM_INDEX_NONE) comms_connected(handle, abi.world);
}

void comms_named(word handle, const char *tag, size_t length)
{
    if (handle == abi.comm_null || !comms_are_started()) return;
    struct members m = members_of(handle);
    pthread_mutex_lock(&lock);
    replace(handle, &m, next_id(ids_of_text(tag, length), &m));
    pthread_mutex_unlock(&lock);
    free_members(&m);
}

uint32_t comms_count(const struct comm *comm, int32_t peer, uint64_t what)
{
    pthread_mutex_lock(&lock);
    uint32_t count = ids_count(ids_mix(ids_mix(comm->index) ^ (uint32_t)peer) + ids_mix(what));
    pthread_mutex_unlock(&lock);
    return count - 1;
}

uint64_t comms_object_id(const struct comm *comm, uint32_t kind)
{
    if (comm->id == 0) return 0;
    pthread_mutex_lock(&lock);
    uint64_t id = ids_derive_object(comm->id, kind);
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t comms_index(word handle)
{
    pthread_mutex_lock(&lock);
    const struct comm *c = handles_find(&map, handle);
    uint32_t index = c ? c->index : COMM_INDEX_NONE;
    pthread_mutex_unlock(&lock);
    return index;
}

uint32_t comms_index_soon(word handle)
{
    enum { WAIT_NS = 100000000, SECOND_NS = 1000000000 };
    struct timespec until;
    if (handle == comms_world.handle) return COMM_INDEX_WORLD;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    if (pthread_mutex_timedlock(&lock, &until)) return COMM_INDEX_NONE;
    const struct comm *c = handles_find(&map, handle);
    uint32_t index = c ? c->index : COMM_INDEX_NONE;
    pthread_mutex_unlock(&lock);
    return index;
}

uint32_t comms_add_group(const uint32_t *members, uint32_t size)
{
    if (!comms_are_started()) return COMM_INDEX_NONE;
    pthread_mutex_lock(&lock);
    const struct comm group = {.index = (uint32_t)__atomic_fetch_add(&created, 1, __ATOMIC_RELAXED),
                               .size = size,
                               .rank = -1,
                               .flags = COMMUNICATOR_IS_GROUP};
    write_comm_row(&group, members, NULL);
    pthread_mutex_unlock(&lock);
    return group.index;
}

void comms_freed(word handle, uint32_t index)
{
    pthread_mutex_lock(&lock);
    const struct comm *c = handles_find(&map, handle);
    if (c && c->index == index) handles_remove(&map, handle);
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void comms_degrees(word handle, int *in, int *out)
{
    int kind = MPI_UNDEFINED_VALUE, rank = 0, n = 0, weighted;
    *in = *out = 0;
    if (!handle) return; /* of the entry for "no communicator" */
    pmpi.Topo_test(handle, &kind);
    if (kind == abi.dist_graph && pmpi.Dist_graph_neighbors_count) {
        pmpi.Dist_graph_neighbors_count(handle, in, out, &weighted);
    } else if (kind == abi.cart) {
        pmpi.Cartdim_get(handle, &n);
        *in = *out = 2 * n;
    } else if (kind == abi.graph) {
        pmpi.Comm_rank(handle, &rank);
        pmpi.Graph_neighbors_count(handle, rank, &n);
        *in = *out = n;
    }
}
