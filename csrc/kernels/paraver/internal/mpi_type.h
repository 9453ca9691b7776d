/* Which of MPI's types of events one is. */
#ifndef MPI_TYPE_H
#define MPI_TYPE_H

#include <stdint.h>

#include "paraver/prvtypes.h"
#include "records.h"

/* Its place in MPI_TYPES of analyzer.trace.paraver, the last of which is apart; -1: none. */
static inline int prv_mpi_type(int64_t type)
{
    if (type == EVENTTYPE_MPI_BEYOND_EXTRAE) return PRV_MPI_TYPES - 1;
    int64_t place = type - EVENTTYPE_MPI_POINT_TO_POINT;
    return place >= 0 && place < PRV_MPI_TYPES - 1 ? (int)place : -1;
}

#endif
