#ifndef PRVTYPES_H
#define PRVTYPES_H

/* Number of values of each type of MPI events that name calls. */
enum { PRV_CALL_VALUES = 4096 };

#endif
