/* Finds the place of a type of events among MPI's types. */
#ifndef MPI_TYPE_H
#define MPI_TYPE_H

#include <stdint.h>

#include "paraver/prvtypes.h"
#include "records.h"

/* Return the place of a type in MPI_TYPES of analyzer.trace.paraver; -1: it is not MPI's. The last type does not
   follow the others in number. */
static inline int prv_mpi_type(int64_t type)
{
    if (type == EVENTTYPE_MPI_BEYOND_EXTRAE) return PRV_MPI_TYPES - 1;
    int64_t place = type - EVENTTYPE_MPI_POINT_TO_POINT;
    return place >= 0 && place < PRV_MPI_TYPES - 1 ? (int)place : -1;
}

#endif
