/* Arguments that must be kept, or replaced, before a call on requests is made. */
#include "calls/arguments.h"

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
