/* Bytes that a buffer argument stands for.
 *
 * These functions may be called before or after the call, by its thread. They ask MPI (PMPI_Type_size) and take no
 * lock. They look at counts and types only, never at the data. */
#ifndef DATA_BYTES_H
#define DATA_BYTES_H

#include "mpi/abi.h"

enum language { LANGUAGE_C, LANGUAGE_C_LARGE, LANGUAGE_FORTRAN };

/* A buffer argument with its count and type, or with the arrays of them. As the program passed them: an argument that
 * MPI ignores here may be anything, and is not looked at. */
struct data {
    word address, count, type;
    enum language language;
};

/* Handle i of an array, as a C word; `f2c` converts one of Fortran. */
word handle_at(word array, uint32_t i, enum language language, word (*f2c)(const int *));

/* Bytes of n elements of a type; 0 if MPI does not know the type. */
uint64_t type_bytes(int64_t n, word type);

/* Bytes of one count of one type. */
uint64_t data_bytes(const struct data *d);

/* Bytes of n counts of one type: the sum, and count i. */
uint64_t data_sum(const struct data *d, uint32_t n);
uint64_t data_bytes_at(const struct data *d, uint32_t i);

/* Bytes of n counts, each of a type of its own: MPI_Alltoallw and its like. */
uint64_t data_sum_types(const struct data *d, uint32_t n);

/* Whether the address is MPI_IN_PLACE. */
bool data_in_place(const struct data *d);

#endif
