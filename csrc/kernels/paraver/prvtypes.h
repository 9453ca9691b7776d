#ifndef PRVTYPES_H
#define PRVTYPES_H

/* Calls by their type of event, of which there are so many (MPI_TYPES of analyzer.trace.paraver), and their value. */
enum { PRV_MPI_TYPES = 6, PRV_CALL_VALUES = 4096 };

#endif
