/* Finds the place of a type of events among MPI's types. */
#ifndef MPI_TYPE_H
#define MPI_TYPE_H

#include <stdint.h>

#include "records.h"

/* Return the place of a type of events among the event families of tracelib/schema/procedures.toml (MPI_TYPES of
   analyzer.trace.paraver); -1: it is not MPI's. May be called by any thread. */
static inline int prv_mpi_type(int64_t type)
{
#define PRV_PLACE_OF(place, number)                                                                                    \
    case number:                                                                                                       \
        return place;
    switch (type) {
        EACH_MPI_EVENT_TYPE(PRV_PLACE_OF)
    default:
        return -1;
    }
#undef PRV_PLACE_OF
}

#endif
