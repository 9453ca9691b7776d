#ifndef DIMWRITE_H
#define DIMWRITE_H
#include <stdint.h>

/* Format n operations (struct op) as records of a Dimemas trace. comm_id: Dimemas ids, of the world, then of each
   communicator. buffered: largest size (bytes) with which sends of kind OP_STANDARD, for which MPI decides whether they
   wait, do not wait; -1: sends keep their kind. out: room for 320 bytes for each operation. Returns the number of bytes
   written.

   Source: "Dimemas 5.5.0 input format". */
int64_t dim_text(const void *operations, int64_t n, int32_t task, int32_t thread, const int32_t *comm_id,
                 int64_t buffered, char *out);

#endif
