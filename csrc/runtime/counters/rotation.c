/* Which set of counters is read when: TRACELIB_ROTATE=500ms, collectives:100, never, file:PATH, and where ranks begin:
 * spread. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "clock/schedule.h"
#include "common/settings.h"
#include "counters/counters.h"
#include "counters/internal/turns.h"
#include "mpi/pmpi.h"
#include "record/thread.h"

enum { DEFAULT_PERIOD_MS = 1000, LONGEST_FILE = 1 << 20 };
#define NEVER UINT64_MAX /* more collectives than any run has */

bool rotation_by_time, rotation_by_collectives;

static struct {
    unsigned sets, first, offset; /* sets first .. first + sets - 1 take turns, from first + offset on */
    bool spread;
    int64_t period_ns, since_ns;
    uint64_t step, collectives;
    const char *path; /* of a schedule */
    struct turns turns;
} rotation;

static bool read_rotation_word(const char *word, size_t length)
{
    static const char collectives[] = "collectives:";
    size_t c = sizeof collectives - 1;
    if (length == 6 && strncmp(word, "spread", 6) == 0) return rotation.spread = true;
    if (length == 5 && strncmp(word, "never", 5) == 0) return (rotation.step = NEVER) != 0;
    if (length > c && strncmp(word, collectives, c) == 0)
        return (rotation.step = schedule_number(word + c, length - c)) != 0;
    return (rotation.period_ns = schedule_interval_ns(word, length)) != 0;
}

/* "500ms", "collectives:100,spread". False: it is neither. */
static bool read_wish(const char *text)
{
    bool good = true;
    while (text && *text) {
        size_t length = strcspn(text, ",");
        good = read_rotation_word(text, length) && good;
        text += length + (text[length] == ',');
    }
    return good;
}

void rotation_prepare(unsigned first, unsigned sets)
{
    static const char file[] = "file:";
    const char *wish = setting_text("TRACELIB_ROTATE");
    rotation.first = first;
    rotation.sets = sets;
    if (wish && strncmp(wish, file, sizeof file - 1) == 0)
        rotation.path = wish + sizeof file - 1;
    else if (!read_wish(wish))
        setting_trouble("TRACELIB_ROTATE=%s is not such as 500ms, collectives:100 or never, or these with ,spread, or "
                        "file:PATH; what is not is ignored",
                        wish);
    if (wish && sets < 2) setting_trouble("TRACELIB_ROTATE does nothing: there are fewer than two sets of counters");
    if (!rotation.period_ns && !rotation.step) rotation.period_ns = DEFAULT_PERIOD_MS * INT64_C(1000000);
}

/* All of a text file, to be freed. NULL, and errno. */
static char *read_text(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f) return NULL;
    char *text = calloc(1, LONGEST_FILE + 1);
    int error = text ? 0 : ENOMEM;
    if (text && fread(text, 1, LONGEST_FILE, f) == LONGEST_FILE && fgetc(f) != EOF) error = EFBIG;
    if (text && ferror(f)) error = errno;
    fclose(f);
    if (!error) return text;
    free(text);
    errno = error;
    return NULL;
}

/* Rank 0's file holds for all ranks: it may lie where others cannot see it. NULL: there is none. */
static char *share_text(int rank)
{
    char *text = rank == 0 && rotation.path ? read_text(rotation.path) : NULL;
    int bytes = text ? (int)strlen(text) + 1 : 0;
    if (rank == 0 && rotation.path && !text)
        setting_trouble("TRACELIB_ROTATE: cannot read %s (%s); sets do not take turns", rotation.path, strerror(errno));
    pmpi.Bcast(&bytes, sizeof bytes, abi.byte, 0, all_ranks);
    if (bytes && rank != 0) text = malloc((size_t)bytes);
    if (bytes && !text) abort(); /* the others would wait for us for ever */
    if (bytes) pmpi.Bcast(text, (word)bytes, abi.byte, 0, all_ranks);
    return text;
}

/* Turns of this rank by the schedule; without one that can be read, the first set stays. */
static void start_schedule(int rank, const int *places, unsigned wanted)
{
    unsigned line;
    const char *why;
    char *text = share_text(rank);
    if (!rotation.path || rotation.sets < 2 || !text) {
        free(text);
        return;
    }
    bool good = turns_read(&rotation.turns, text, rank, places, wanted, &line, &why);
    free(text);
    if (!good) {
        setting_trouble("TRACELIB_ROTATE: line %u of %s %s; sets do not take turns", line, rotation.path, why);
        rotation.turns.n = 0;
    }
    for (unsigned i = 1; i < rotation.turns.n; i++) {
        const struct turn *t = &rotation.turns.turn[i];
        *(t->at_ns == INT64_MAX ? &rotation_by_collectives : &rotation_by_time) = true;
    }
}

void rotation_start(unsigned first, unsigned sets, int rank, const int *places, unsigned wanted)
{
    rotation.first = first;
    rotation.sets = sets;
    rotation.since_ns = clock_monotonic_ns();
    start_schedule(rank, places, wanted);
    if (rotation.sets < 2 || rotation.path) return;
    rotation.offset = rotation.spread ? (unsigned)rank % rotation.sets : 0;
    rotation_by_time = rotation.period_ns != 0;
    rotation_by_collectives = rotation.step != 0;
}

static unsigned turns_by_count(int64_t elapsed_ns, uint64_t collectives)
{
    uint64_t turns = rotation.offset;
    if (rotation_by_time) turns += (uint64_t)elapsed_ns / (uint64_t)rotation.period_ns;
    if (rotation_by_collectives) turns += collectives / rotation.step;
    return (unsigned)(turns % rotation.sets);
}

uint32_t rotation_current(void)
{
    if (!rotation.sets) return 0;
    int64_t elapsed_ns = rotation_by_time ? clock_monotonic_ns() - rotation.since_ns : 0;
    uint64_t collectives = __atomic_load_n(&rotation.collectives, __ATOMIC_RELAXED);
    if (rotation.turns.n) return rotation.first + turns_place(&rotation.turns, elapsed_ns, collectives);
    return rotation.first + turns_by_count(elapsed_ns, collectives);
}

void rotation_collective(struct thread *t)
{
    __atomic_fetch_add(&rotation.collectives, 1, __ATOMIC_RELAXED);
    rotation_look(t);
}

/* The set changes when the call that goes on has been recorded: then a burst begins with it. */
void rotation_look(struct thread *t)
{
    if (!t->readings || t->measured || thread_gate(t) != GATE_INSIDE) return;
    if (rotation_current() != t->set) thread_set_gate(t, GATE_DUE);
}
