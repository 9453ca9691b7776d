#include <stdbool.h>
#include <stdint.h>

#include "calls_for_collectives.h"
#include "calls_of_mpi.h"
#include "collective.h"
#include "seconds.h"

enum { SEGMENT = 1, READY = 2 };

static int32_t part(const struct collective *c, int32_t from)
{
    return c->bytes - from < c->segment_bytes ? c->bytes - from : c->segment_bytes;
}

static int post_receive(const struct collective *c, int32_t from, intptr_t *request)
{
    return mpi_post(c->buffer + from, part(c, from), c->parent, SEGMENT, c->comm, request);
}

static int hand_on_message(const struct collective *c, int32_t from)
{
    int error = 0;
    for (int32_t k = 0; k < c->children && !error; k++)
        error = mpi_send(c->buffer + from, part(c, from), c->child[k], SEGMENT, c->comm);
    return error;
}

/* Segment by segment from the parent to the children; the next one's receive is posted before this one is awaited. */
static int along_tree(const struct collective *c)
{
    bool receives = c->parent >= 0;
    intptr_t requests[2] = {0, 0};
    int error = receives ? post_receive(c, 0, &requests[0]) : 0;
    int32_t from = 0;
    for (int k = 0; !error; k ^= 1) {
        int32_t size = part(c, from);
        bool last = c->bytes - from == size;
        if (receives && !last) error = post_receive(c, from + size, &requests[k ^ 1]);
        if (receives && !error) error = mpi_wait(&requests[k]);
        if (!error) error = hand_on_message(c, from);
        if (last) break;
        from += size;
    }
    return error;
}

int collective_once(const struct collective *c)
{
    switch (c->operation) {
    case COLLECTIVE_BCAST:
        return mpi_bcast(c->buffer, c->bytes, 0, c->comm);
    case COLLECTIVE_SCATTER:
        return mpi_scatter(c->source, c->buffer, c->bytes, 0, c->comm);
    default:
        return along_tree(c);
    }
}

int collective_many_to_one(const struct collective *c)
{
    char sign = 0;
    if (c->rank) return mpi_send(&sign, 1, 0, READY, c->comm);
    int error = 0;
    for (int32_t rank = 1; rank < c->ranks && !error; rank++) error = mpi_receive(&sign, 1, rank, READY, c->comm);
    return error;
}

int collective_loop(const struct collective *c, int64_t n, double *total_s)
{
    int error = collective_many_to_one(c);
    double start = seconds_now();
    for (int64_t k = 0; k < n && !error; k++) error = collective_once(c);
    *total_s = seconds_now() - start;
    return error;
}
