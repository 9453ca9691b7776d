#ifndef DIMWRITE_H
#define DIMWRITE_H
#include <stdint.h>

/* Format operations as records of a Dimemas trace ("Dimemas 5.5.0 input format"); returns the bytes written to `out`,
   which must hold 320 for each. comm_id: Dimemas id of the world, then of each communicator. buffered: bytes up to
   which sends of which MPI decides whether they wait (OP_STANDARD) do not; -1: they do as they say. */
int64_t dim_text(const void *operations, int64_t n, int32_t task, int32_t thread, const int32_t *comm_id,
                 int64_t buffered, char *out);

#endif
