#define _GNU_SOURCE
#include "mpi/bound.h"

#include <dlfcn.h>
#include <stddef.h>

#include "common/user_message.h"
#include "mpi/early.h"
#include "mpi/internal/libraries.h"
#include "mpi/names.h"
#include "mpi/resolve.h"
#include "mpi/tools.h"

/* The last library before this thread opens a file with RTLD_DEEPBIND, by its dynamic section; NULL: it opens another.
 */
static __thread const void *opened_after __attribute__((tls_model("initial-exec")));

static int is_last(struct dl_phdr_info *info, size_t size, void *last)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            *(const void **)last = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 0;
}

BEFORE_SANITIZERS void bound_opening(int flags)
{
    opened_after = NULL;
    if (flags & RTLD_DEEPBIND) dl_iterate_phdr(is_last, &opened_after);
}

/* Findings in one library. */
struct visit {
    const struct link_map *library;
    bool opened_deep;
    unsigned redirected, others; /* others: references to another MPI than ours */
};

/* Where a reference leads that is bound, or (a call that the dynamic linker will bind at its first time) would lead. */
static uintptr_t target_of(const struct reference *r, const struct visit *v)
{
    uintptr_t now = *r->place;
    if (libraries_at(now) != v->library) return now;
    if (!v->opened_deep) return tools_precede(r->name) ? 0 : (uintptr_t)resolve_symbol(r->name);
    return (uintptr_t)dlsym((void *)v->library, r->name);
}

static void redirect(const struct reference *r, void *data)
{
    struct visit *v = data;
    void *ours = names_find(r->name);
    uintptr_t target = ours ? target_of(r, v) : 0;
    if (!target || target == (uintptr_t)ours) return;
    if (target == (uintptr_t)resolve_symbol(r->name)) {
        libraries_refer(v->library, r, (uintptr_t)ours);
        v->redirected++;
    } else {
        const struct link_map *l = libraries_at(target);
        v->others += l && libraries_is_mpi(l);
    }
}

static void tell(const struct visit *v)
{
    if (!v->opened_deep || (!v->redirected && !v->others)) return;
    const char *path = v->library->l_name;
    const char *text = v->others ? "%s was opened with RTLD_DEEPBIND and calls another MPI: that is not recorded"
                                 : "%s was opened with RTLD_DEEPBIND: its calls of MPI are recorded all the same";
    debug(text, path);
    if (resolve_speaks() && (v->others || !message_quiet())) say(text, path);
}

static void look_at(const struct link_map *l, bool opened_deep)
{
    struct visit v = {l, opened_deep, 0, 0};
    if (l == libraries_own() || tools_is_one(l)) return; /* tools choose themselves whom they call */
    libraries_references(l, redirect, &v);
    tell(&v);
}

/* MPI ahead of us, as in LD_PRELOAD=libmpi.so:libtrace.so. */
BEFORE_SANITIZERS static bool mpi_precedes(void)
{
    const struct link_map *own = libraries_own(), *l = libraries_loaded();
    while (l && l != own && !libraries_is_mpi(l)) l = l->l_next;
    return l && l != own;
}

/* The first library behind those that the program started with. */
BEFORE_SANITIZERS static const struct link_map *first_opened(void)
{
    const struct link_map *l = libraries_loaded();
    while (libraries_next(l)) l = libraries_next(l);
    return l->l_next;
}

/* Library that this thread is opening with RTLD_DEEPBIND. */
BEFORE_SANITIZERS static const struct link_map *opened_deep(void)
{
    const struct link_map *l = libraries_loaded();
    while (l && (const void *)l->l_ld != opened_after) l = l->l_next;
    return l ? l->l_next : first_opened();
}

static void (*listener)(void);

void bound_listen(void (*loaded)(void))
{
    __atomic_store_n(&listener, loaded, __ATOMIC_RELEASE);
}

/* Called in the _init of every library that is loaded, of a program's, too: names.h says how. */
__attribute__((visibility("default"))) BEFORE_SANITIZERS void __gmon_start__(void)
{
    static bool started;
    const struct link_map *l = NULL;
    if (!early_is_over() || !libraries_own()) return;
    if (opened_after)
        l = opened_deep();
    else if (mpi_precedes())
        l = started ? first_opened() : libraries_loaded();
    started = true;
    for (; l; l = l->l_next) look_at(l, opened_after);
    void (*tell_of_it)(void) = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
    if (tell_of_it) tell_of_it();
}
