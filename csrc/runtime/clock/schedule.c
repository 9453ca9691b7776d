#include "clock/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "common/time_text.h"
#include "common/user_message.h"

int64_t schedule_interval_ns(const char *text, size_t length)
{
    double ns;
    if (!time_text_ns(text, length, UNIT_MS | UNIT_S | UNIT_MIN | UNIT_H, &ns)) return 0;
    return ns >= 1e6 && ns <= 7 * 24 * 3600e9 ? (int64_t)ns : 0;
}

uint64_t schedule_number(const char *text, size_t length)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    return end == text + length && *text >= '0' && *text <= '9' ? value : 0;
}

static bool read_schedule_word(struct schedule *s, const char *word, size_t length)
{
    static const char collectives[] = "collectives:", every[] = "every:";
    size_t c = sizeof collectives - 1, e = sizeof every - 1;
    if (length == 3 && strncmp(word, "all", 3) == 0) return s->all = true;
    if (length > c && strncmp(word, collectives, c) == 0) return (s->step = schedule_number(word + c, length - c)) != 0;
    if (length > e && strncmp(word, every, e) == 0)
        return (s->interval_ns = schedule_interval_ns(word + e, length - e)) != 0;
    return length == 0;
}

struct schedule schedule_read(bool speaks)
{
    struct schedule s = {.last = 1};
    const char *text = getenv("TRACELIB_SYNC");
    bool good = true;
    for (const char *word = text; word; word += *word == ',') {
        size_t length = strcspn(word, ",");
        good = read_schedule_word(&s, word, length) && good;
        word += length;
        if (!*word) break;
    }
    if (!good && speaks)
        say("TRACELIB_SYNC=%s: only `all`, `collectives:1000` and `every:10s` are known; the rest is ignored", text);
    return s;
}

static uint64_t due_by_time(const struct schedule *s, uint64_t count, int64_t now_ns)
{
    uint64_t made = count - s->last_count, most = 2 * s->last;
    int64_t elapsed = now_ns - s->last_ns;
    double expected = elapsed > 0 ? (double)made * (double)s->interval_ns / (double)elapsed : (double)most;
    if (expected >= (double)most) return most;
    return expected < 1 ? 1 : (uint64_t)expected;
}

uint64_t schedule_next(struct schedule *s, uint64_t count, int64_t now_ns)
{
    uint64_t away = s->step;
    if (s->interval_ns) {
        uint64_t timed = count ? due_by_time(s, count, now_ns) : 1;
        away = away && away < timed ? away : timed;
        s->last = timed;
    }
    s->last_count = count;
    s->last_ns = now_ns;
    return away ? count + away : 0;
}
