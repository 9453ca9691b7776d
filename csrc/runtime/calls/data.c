/* How many bytes a buffer argument stands for. */
#include <string.h>

#include "calls/decode.h"
#include "mpi/pmpi.h"

/* A handle in an array of either language. */
static word handle_at(word array, uint32_t i, enum language language, word (*f2c)(const int *))
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

const struct held_request *save_handles(struct thread *t, word array, int n, enum language language)
{
    static __thread struct held_request few[16];
    few[0].handle = abi.request_null;
    if (n <= 0 || !array) return few;
    struct held_request *out = n <= 16 ? few : scratch_get(&t->handles, (uint64_t)n * sizeof *out);
    for (int i = 0; out && i < n; i++) out[i].handle = handle_at(array, (uint32_t)i, language, abi_request_f2c);
    if (out) requests_hold(out, n);
    return out;
}

void *status_buffer(struct thread *t, word user, bool ignored, int n, const struct held_request **handles)
{
    static __thread char one[STATUS_ROOM] __attribute__((aligned(16)));
    if (!ignored) return (void *)user;
    if (n <= 1) return one;
    void *many = scratch_get(&t->statuses, (uint64_t)n * abi.status_bytes);
    if (many) return many;
    *handles = NULL;
    return (void *)user;
}

/* Where indices begin that a call has returned. Fortran's begin at 1, but MPICH up to 4.1 forgets that in some
 * mpi_f08 procedures: which, is seen from the requests that the call has nulled, and then remembered. */
int index_base(enum index_call call, word array, const struct held_request *handles, int n, int index)
{
    static int8_t known[2] = {-1, -1}; /* -1: not yet */
    if (abi.family != FAMILY_MPICH || index < 0 || index > n || !handles) return 1;
    int base = __atomic_load_n(&known[call], __ATOMIC_RELAXED);
    if (base >= 0) return base;
    const int *after = (const int *)array;
    bool before_is_gone =
        index > 0 && handles[index - 1].handle != abi.request_null && after[index - 1] == (int)abi.request_null;
    bool this_is_gone = index < n && handles[index].handle != abi.request_null && after[index] == (int)abi.request_null;
    if (index == 0 || (this_is_gone && !before_is_gone)) base = 0;
    if (index == n || (before_is_gone && !this_is_gone)) base = 1;
    __atomic_store_n(&known[call], (int8_t)base, __ATOMIC_RELAXED); /* every thread comes to the same */
    return base >= 0 ? base : 1;
}
