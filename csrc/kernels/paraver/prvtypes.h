#ifndef PRVTYPES_H
#define PRVTYPES_H

/* Number of types of MPI events (MPI_TYPES of analyzer.trace.paraver), and of values of each type that name calls. */
enum { PRV_MPI_TYPES = 6, PRV_CALL_VALUES = 4096 };

#endif
