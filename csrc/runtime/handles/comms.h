/* Communicators: from a handle, which is local and reused, to a row of the rank file and an id that all members share.
 */
#ifndef COMMS_H
#define COMMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/abi.h"
#include "record/store.h"

struct comm {
    word handle;
    uint32_t index; /* row of `communicators` */
    uint32_t size, remote_size;
    int32_t rank;
    uint32_t flags; /* of the row */
    uint64_t id;
};

enum { COMM_INDEX_NONE = 0, COMM_INDEX_WORLD = 1, COMM_INDEX_SELF = 2 };

/* Write the rows of "none", world and self. 0 or errno. */
int comms_start(struct store *store, int size);
bool comms_are_started(void);

/* MPI_Init has returned: world ranks are those in MPI_COMM_WORLD. */
void comms_know_world(void);

/* The entry of a handle; communicators that were made out of our sight are registered with an unknown id.
 * Never NULL: MPI_COMM_NULL is the entry with index 0. */
const struct comm *comms_slow_find(word handle);
extern struct comm comms_world;
static inline const struct comm *comms_find(word handle)
{
    return __builtin_expect(handle == comms_world.handle, 1) ? &comms_world : comms_slow_find(handle);
}

/* The index of a communicator that is about to be freed; 0 if it was never seen. */
uint32_t comms_index(word handle);

/* The index of a communicator; COMM_INDEX_NONE if it was never seen, or if this thread or one inside of MPI keeps us
 * from knowing. */
uint32_t comms_index_soon(word handle);

/* A creating call has returned `handle` on this process (MPI_COMM_NULL: not a member). `parent` is what it was
 * made from; MPI_COMM_NULL where members have no common parent (MPI_Intercomm_create). No message is sent: all
 * members derive the same id from the parent's id, the members, and how often that pair has come before. */
void comms_created(word handle, word parent);

/* MPI_Comm_idup: the id of the copy to come is derived when it is posted, in the same order on all members; in which
 * order copies are completed is each member's own affair. 0: unknown. */
uint64_t comms_promise(word parent);
void comms_promised(word handle, uint64_t id);

/* The same for a communicator whose other side may be another run (spawn, connect, join): all members on this side
 * derive the same id; MPI_COMM_NULL as parent for MPI_Comm_join. */
void comms_connected(word handle, word parent);

/* MPI_Comm_get_parent: made where we could not see it, handed out again and again. */
void comms_found(word handle);

/* Made from groups (MPI 4 sessions): the tag, which all members give alike, takes the parent's place. */
void comms_named(word handle, const char *tag, size_t length);

/* How often this has been asked of these members, this partner and what came with it: 0, 1, 2, ... */
uint32_t comms_count(const struct comm *comm, int32_t peer, uint64_t what);

/* The id of the next window or file (enum objectkind) of a communicator; 0: unknown. */
uint64_t comms_object_id(const struct comm *comm, uint32_t kind);

/* World ranks of a group's members; UINT32_MAX for a process outside our world. The caller's; NULL: not known. */
uint32_t *comms_world_ranks(word group, uint32_t size);

/* A row for a group that is no communicator's; COMM_INDEX_NONE before there is a world. */
uint32_t comms_add_group(const uint32_t *members, uint32_t size);

/* The communicator of this handle and index was freed; the handle may already stand for another one. */
void comms_freed(word handle, uint32_t index);

/* Incoming and outgoing neighbours on a communicator with a topology. */
void comms_degrees(word handle, int *in, int *out);

#endif
