#ifndef CALLS_FOR_COLLECTIVES_H
#define CALLS_FOR_COLLECTIVES_H

/* The functions of MPI that timing a collective needs besides those of calls_of_mpi.h; the same holds for them. */
_Bool mpi_open_more(void);

/* A receive that is awaited later. */
int mpi_post(void *buffer, int bytes, int rank, int tag, intptr_t comm, intptr_t *request);
int mpi_wait(intptr_t *request);

/* `bytes` for each rank. */
int mpi_bcast(void *buffer, int bytes, int root, intptr_t comm);
int mpi_scatter(const void *from, void *to, int bytes, int root, intptr_t comm);

#endif
