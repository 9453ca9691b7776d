/* Helpers of the generated fallbacks for large-count forms (csrc/generate/large.py). */
#ifndef LARGE_H
#define LARGE_H

#include <limits.h>
#include <stdlib.h>

#include "handles/comms.h"
#include "handles/count_arrays.h"
#include "mpi/pmpi.h"
#include "mpi/resolve.h"

enum { LARGE_COUNT_ERROR = 2 }; /* MPI_ERR_COUNT in every MPI */

/* Return the function of that name of the MPI library; NULL if it has none. */
static inline function large_function(const char *name)
{
    return (function)resolve_symbol(name);
}

/* True if a count does not fit an int. */
static inline bool large_is_too_large(word count)
{
    return count > INT_MAX || count < INT_MIN;
}

/* Return the number behind a pointer to a wide integer; 0 for NULL. */
static inline int large_read(word pointer)
{
    return pointer ? (int)*(int64_t *)pointer : 0;
}

/* Write a wide integer, unless the pointer is NULL. */
static inline void large_write(word pointer, int value)
{
    if (pointer) *(int64_t *)pointer = value;
}

/* Lengths of arrays, asked from MPI: the answer is needed in processes that are not traced, too. */
static inline size_t large_members(word comm)
{
    int n = 0;
    pmpi.Comm_size(comm, &n);
    return (size_t)n;
}
static inline bool large_is_inter(word comm)
{
    int inter = 0;
    pmpi.Comm_test_inter(comm, &inter);
    return inter;
}
static inline size_t large_peers(word comm)
{
    int n = 0;
    if (!large_is_inter(comm)) return large_members(comm);
    pmpi.Comm_remote_size(comm, &n);
    return (size_t)n;
}
static inline size_t large_at_root(word comm, word root)
{
    int rank = 0;
    pmpi.Comm_rank(comm, &rank);
    bool here = (int)root == (large_is_inter(comm) ? abi.root : rank);
    return here ? large_peers(comm) : 0;
}
static inline size_t large_neighbors(word comm, bool out)
{
    int degree[2];
    comms_degrees(comm, &degree[0], &degree[1]);
    return (size_t)degree[out];
}

/* A copy of n wide integers as ints; NULL for none. False: one does not fit, or no memory. */
static inline bool large_narrow(word array, size_t n, int **out)
{
    if (!array || !n) return true;
    int *narrow = malloc(n * sizeof *narrow);
    for (size_t i = 0; narrow && i < n; i++) {
        word value = ((int64_t *)array)[i];
        narrow[i] = (int)value;
        if (large_is_too_large(value)) {
            free(narrow);
            return false;
        }
    }
    *out = narrow;
    return narrow != NULL;
}

#endif
