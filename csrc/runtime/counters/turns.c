#define _GNU_SOURCE
#include "counters/internal/turns.h"

#include <stdlib.h>
#include <string.h>

#include "clock/schedule.h"

static const char blanks[] = " \t\r";

/* The next word of a line; 0: there is none. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, blanks);
    return strcspn(*at, " \t\r\n#");
}

static bool read_digits(const char **at, unsigned long *value)
{
    char *end;
    if (**at < '0' || **at > '9') return false;
    *value = strtoul(*at, &end, 10);
    *at = end;
    return true;
}

/* "*", "3", "0,2-5". False: it is none of these. */
static bool read_ranks(const char *word, size_t length, unsigned long rank, bool *mine)
{
    const char *end = word + length;
    *mine = length == 1 && *word == '*';
    if (*mine) return true;
    for (;; word++) {
        unsigned long first, last;
        if (!read_digits(&word, &first)) return false;
        last = first;
        if (*word == '-' && (word++, !read_digits(&word, &last))) return false;
        if (last < first) return false;
        *mine = *mine || (first <= rank && rank <= last);
        if (word == end) return true;
        if (*word != ',') return false;
    }
}

/* "start", "10s", "collectives:100". */
static bool read_moment(const char *word, size_t length, struct turn *turn)
{
    static const char start[] = "start", collectives[] = "collectives:";
    size_t c = sizeof collectives - 1;
    turn->at_ns = INT64_MAX;
    turn->at_collective = UINT64_MAX;
    if (length == sizeof start - 1 && memcmp(word, start, length) == 0) {
        turn->at_ns = 0;
        return true;
    }
    if (length > c && memcmp(word, collectives, c) == 0)
        return (turn->at_collective = schedule_number(word + c, length - c)) != 0;
    return (turn->at_ns = schedule_interval_ns(word, length)) != 0;
}

/* NULL, or what is wrong. `turn` is for this rank if *mine. */
static const char *read_turn_line(const char *at, unsigned long rank, const int *places, unsigned sets,
                                  struct turn *turn, bool *mine)
{
    size_t length = next_word(&at);
    if (!read_ranks(at, length, rank, mine)) return "does not begin with ranks such as *, 3 or 0,2-5";
    at += length;
    length = next_word(&at);
    if (!read_moment(at, length, turn)) return "has no moment such as start, 10s or collectives:100";
    at += length;
    length = next_word(&at);
    uint64_t set = schedule_number(at, length);
    if (!set || set > sets) return "has no number of a set, from 1 on";
    turn->place = (unsigned)places[set - 1];
    *mine = *mine && places[set - 1] >= 0;
    at += length;
    return next_word(&at) ? "has more than ranks, a moment and a set" : NULL;
}

/* The first of all later turns, for each: then it takes two comparisons to see that nothing changes. */
static void look_ahead(struct turns *turns)
{
    int64_t ns = INT64_MAX;
    uint64_t collective = UINT64_MAX;
    for (unsigned i = turns->n; i-- > 0;) {
        struct turn *t = &turns->turn[i];
        t->next_ns = ns;
        t->next_collective = collective;
        if (t->at_ns < ns) ns = t->at_ns;
        if (t->at_collective < collective) collective = t->at_collective;
    }
}

bool turns_read(struct turns *turns, const char *text, int rank, const int *places, unsigned sets, unsigned *line,
                const char **why)
{
    size_t lines = 1;
    for (const char *p = text; *p; p++) lines += *p == '\n';
    *turns = (struct turns){.n = 1, .turn = calloc(lines + 1, sizeof(struct turn))};
    *line = 0;
    *why = "no memory";
    if (!turns->turn) return false;
    turns->turn[0] = (struct turn){.at_collective = UINT64_MAX};
    *why = NULL;
    for (const char *at = text; *at && !*why; at += *at == '\n') {
        const char *first = at;
        bool mine = false;
        ++*line;
        if (next_word(&first))
            *why = read_turn_line(first, (unsigned long)rank, places, sets, &turns->turn[turns->n], &mine);
        turns->n += !*why && mine;
        at += strcspn(at, "\n");
    }
    look_ahead(turns);
    return !*why;
}

static bool has_come(const struct turn *t, int64_t elapsed_ns, uint64_t collectives)
{
    return elapsed_ns >= t->at_ns || collectives >= t->at_collective;
}

/* Threads may store one after the other what was true for each: the next call of any puts it right. */
unsigned turns_place(struct turns *turns, int64_t elapsed_ns, uint64_t collectives)
{
    unsigned i = __atomic_load_n(&turns->current, __ATOMIC_RELAXED);
    const struct turn *t = &turns->turn[i];
    if (elapsed_ns < t->next_ns && collectives < t->next_collective) return t->place;
    for (i = turns->n - 1; i > 0 && !has_come(&turns->turn[i], elapsed_ns, collectives);) i--;
    __atomic_store_n(&turns->current, i, __ATOMIC_RELAXED);
    return turns->turn[i].place;
}
