#include "handles/groups.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "handles/comms.h"
#include "handles/ids.h"
#include "handles/internal/handles.h"
#include "mpi/pmpi.h"

/* One for each list of members; never freed. */
struct group {
    struct group *next; /* of those with the same hash */
    uint32_t row, size;
    uint32_t *members;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_map by_handle, by_hash;

static word hash_of_group(const uint32_t *members, uint32_t size)
{
    uint64_t hash = ids_mix(size);
    for (uint32_t i = 0; i < size; i++) hash = ids_mix(hash ^ members[i]);
    return (word)hash;
}

/* Takes over members. NULL: no memory. Under the lock. */
static struct group *with_members(uint32_t *members, uint32_t size)
{
    word hash = hash_of_group(members, size);
    struct group *first = handles_find(&by_hash, hash), *group = first;
    while (group && (group->size != size || memcmp(group->members, members, size * sizeof *members)))
        group = group->next;
    if (group) {
        free(members);
        return group;
    }
    group = malloc(sizeof *group);
    uint32_t row = group ? comms_add_group(members, size) : COMM_INDEX_NONE;
    if (group) *group = (struct group){first, row, size, members};
    if (row == COMM_INDEX_NONE || !handles_put(&by_hash, hash, group)) {
        free(members);
        free(group);
        return NULL;
    }
    return group;
}

/* Under the lock. */
static struct group *look_at_group(word handle)
{
    int size = 0;
    pmpi.Group_size(handle, &size);
    uint32_t *members = comms_world_ranks(handle, (uint32_t)size);
    struct group *group = members ? with_members(members, (uint32_t)size) : NULL;
    if (group) handles_put(&by_handle, handle, group);
    return group;
}

uint32_t groups_row(word handle)
{
    pthread_mutex_lock(&lock);
    const struct group *group = handles_find(&by_handle, handle);
    if (!group) group = look_at_group(handle);
    uint32_t row = group ? group->row : COMM_INDEX_NONE;
    pthread_mutex_unlock(&lock);
    return row;
}

void groups_forget(word handle)
{
    pthread_mutex_lock(&lock);
    handles_remove(&by_handle, handle);
    pthread_mutex_unlock(&lock);
}
