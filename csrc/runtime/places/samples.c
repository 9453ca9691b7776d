#define _GNU_SOURCE
#include "places/samples.h"

#include <link.h>

#include "mpi/bound.h"
#include "places/internal/code.h"
#include "places/internal/modules.h"
#include "places/internal/python_process.h"
#include "places/internal/stack_path.h"
#include "places/places.h"

/* Whoever has the lock has it for some microseconds; a handler that interrupted that very thread waits in vain. */
enum { MOST_TRIES = 200 };

/* Working memory, under the lock: the stack of an interrupted thread may be small. */
static struct walk walk;
static struct interpreted python;

struct sampled {
    const struct interrupted *at;
    const struct stack_copy *copy;
    uint32_t *path;
};

/* Calls without paths do not keep samples from having a place. */
static unsigned depth(void)
{
    return places_depth ? places_depth : 1;
}

bool samples_look_around(void)
{
    places_look_around();
    return python_process() != NULL;
}

void samples_follow_libraries(bool follow)
{
    bound_listen(follow ? places_look_around : NULL);
}

static void begin_at(const struct interrupted *at, const struct stack_copy *copy)
{
    walk.place = at->place;
    walk.sp = at->sp;
    walk.fp = at->fp;
    walk.interrupted = true;
    walk.copy = copy;
    walk_stack(&walk, depth());
}

static bool try_lock(void)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        if (pthread_mutex_trylock(&places_lock) == 0) return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return false;
}

uint32_t samples_own_path(const struct interrupted *at)
{
    uint32_t path = 0;
    if (!try_lock()) return 0;
    if (places_code_is_known()) {
        modules_only_known(true);
        python_process_only_known(true);
        begin_at(at, NULL);
        python.in_handler = true;
        stack_ask_python(&walk, &python, depth());
        path = stack_path(&walk, &python, depth(), PATH_CUT);
        python_process_only_known(false);
        modules_only_known(false);
    }
    pthread_mutex_unlock(&places_lock);
    return path;
}

/* While this is called nothing is unloaded: the sampled thread may be out of what it was in by now. */
static int walk_inside(struct dl_phdr_info *unused, size_t bytes, void *data)
{
    const struct sampled *sampled = data;
    (void)unused, (void)bytes;
    places_generation_now();
    begin_at(sampled->at, sampled->copy);
    python.n = 0;
    *sampled->path = stack_path(&walk, &python, depth(), PATH_CUT);
    return 1;
}

uint32_t samples_path(const struct interrupted *at, const char *stack, uint64_t bytes)
{
    const struct stack_copy copy = {at->sp, bytes, stack};
    uint32_t path = 0;
    pthread_mutex_lock(&places_lock);
    dl_iterate_phdr(walk_inside, &(struct sampled){at, &copy, &path});
    pthread_mutex_unlock(&places_lock);
    return path;
}
