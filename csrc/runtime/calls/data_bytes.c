/* Bytes that a buffer argument stands for. */
#include "calls/data_bytes.h"

#include "mpi/pmpi.h"

word handle_at(word array, uint32_t i, enum language language, word (*f2c)(const int *))
{
    if (language == LANGUAGE_FORTRAN) return f2c((const int *)array + i);
    return abi.wide_handles ? ((const word *)array)[i] : (word)((const int *)array)[i];
}

uint64_t type_bytes(int64_t n, word type)
{
    int size = 0;
    int64_t large = 0;
    if (n <= 0 || pmpi.Type_size(type, &size)) return 0;
    if (size >= 0) return (uint64_t)n * (uint64_t)size;
    if (!pmpi.Type_size_x || pmpi.Type_size_x(type, &large) || large < 0) return 0;
    return (uint64_t)n * (uint64_t)large;
}

static word type_of(const struct data *d)
{
    return d->language == LANGUAGE_FORTRAN ? abi_type_f2c((const int *)d->type) : abi_value(d->type);
}

static int64_t count_at(const struct data *d, uint32_t i)
{
    return d->language == LANGUAGE_C_LARGE ? ((const int64_t *)d->count)[i] : ((const int *)d->count)[i];
}

uint64_t data_bytes(const struct data *d)
{
    int64_t count = d->language == LANGUAGE_C         ? (int)d->count
                    : d->language == LANGUAGE_C_LARGE ? (int64_t)d->count
                                                      : *(const int *)d->count;
    return count > 0 ? type_bytes(count, type_of(d)) : 0;
}

uint64_t data_sum(const struct data *d, uint32_t n)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += count_at(d, i);
    return count > 0 ? type_bytes(count, type_of(d)) : 0;
}

uint64_t data_bytes_at(const struct data *d, uint32_t i)
{
    int64_t count = count_at(d, i);
    return count > 0 ? type_bytes(count, type_of(d)) : 0;
}

/* Counts and types both are arrays: the "w" collectives. */
uint64_t data_sum_types(const struct data *d, uint32_t n)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        if (count_at(d, i) > 0) bytes += type_bytes(count_at(d, i), handle_at(d->type, i, d->language, abi_type_f2c));
    return bytes;
}

bool data_in_place(const struct data *d)
{
    return d->language == LANGUAGE_FORTRAN ? abi_fortran_in_place(d->address) : d->address == abi.in_place;
}
