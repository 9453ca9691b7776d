#include "buffer/buffer_shares.h"

#include "common/settings.h"
#include "counters/counters.h"
#include "places/places.h"
#include "record/space_limit.h"
#include "variables.h"

enum { LEAST_ROWS = 16, DEFAULT_BUFFER = 1 << 20 };

static uint64_t user_bytes;

void division_prepare(void)
{
    user_bytes = limit_buffer_bytes(setting_bytes("TRACELIB_BUFFER", LEAST_BUFFER, MOST_BUFFER, DEFAULT_BUFFER));
}

uint64_t division_user_bytes(void)
{
    return user_bytes;
}

/* How a buffer of the user's size is divided: in 64ths, in the order of the tables. Readings share with their calls. */
static const unsigned share[BUFFERED_TABLES] = {
    [TABLE_CALLS] = 30,    [TABLE_REQUESTS] = 16, [TABLE_POLLS] = 4,      [TABLE_EVENTS] = 4,     [TABLE_ACCESSES] = 8,
    [TABLE_SUMMARIES] = 2, [TABLE_COUNTS] = 0,    [TABLE_CALL_PATHS] = 0, [TABLE_POLL_PATHS] = 0,
};

static uint64_t share_bytes(enum table table)
{
    return user_bytes * share[table] / 64;
}

/* A region's begin and the readings there fit together. */
static uint64_t least_rows(enum table table)
{
    return LEAST_ROWS + (table == TABLE_EVENTS ? counters_most_readings() / 2 : 0);
}

static bool is_of_calls(enum table table)
{
    return table == TABLE_CALLS || table == TABLE_COUNTS || table == TABLE_CALL_PATHS;
}

/* Round a number of bytes so that any row may begin behind it. */
static uint64_t aligned(uint64_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

/* All tables but those of calls, one behind the other from the header on. Returns their end. */
static uint64_t divide_others(uint64_t capacity[BUFFERED_TABLES], uint64_t offset[BUFFERED_TABLES])
{
    uint64_t end = SPOOL_HEADER_BYTES;
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        if (is_of_calls(i)) continue;
        capacity[i] = share_bytes(i) / table_layout[i].row_bytes;
        if (capacity[i] < least_rows(i)) capacity[i] = least_rows(i);
        if (i == TABLE_POLL_PATHS) capacity[i] = places_depth ? capacity[TABLE_POLLS] : 0;
        offset[i] = end;
        end += aligned((capacity[i] + (i == TABLE_EVENTS)) * table_layout[i].row_bytes); /* a flush's own begin */
    }
    return end;
}

static uint64_t path_bytes(void)
{
    return places_depth ? sizeof(uint32_t) : 0;
}

/* Calls get the rest, with room for their paths, their readings, and the readings of one that is not stored yet. */
void thread_divide(struct thread *t)
{
    uint64_t *offset = t->spool->offset, end = divide_others(t->capacity, offset);
    uint64_t readings = t->readings * sizeof(uint64_t), row = sizeof(struct file_call) + readings + path_bytes();
    t->capacity[TABLE_CALLS] = (t->spool_bytes - end - readings) / row;
    t->capacity[TABLE_CALL_PATHS] = places_depth ? t->capacity[TABLE_CALLS] : 0;
    t->capacity[TABLE_COUNTS] = (t->capacity[TABLE_CALLS] + 1) * t->readings;
    offset[TABLE_CALLS] = end;
    offset[TABLE_COUNTS] = end + t->capacity[TABLE_CALLS] * sizeof(struct file_call);
    offset[TABLE_CALL_PATHS] = offset[TABLE_COUNTS] + t->capacity[TABLE_COUNTS] * sizeof(uint64_t);
    t->spool->set = t->set;
    t->spool->has_paths = places_depth != 0;
    for (int i = 0; i < BUFFERED_TABLES; i++) t->rows[i] = (char *)t->spool + offset[i];
}

uint64_t thread_buffer_bytes(void)
{
    uint64_t capacity[BUFFERED_TABLES], offset[BUFFERED_TABLES];
    uint64_t readings = counters_most_readings() * sizeof(uint64_t);
    uint64_t row = sizeof(struct file_call) + readings + path_bytes();
    uint64_t calls = share_bytes(TABLE_CALLS), least = LEAST_ROWS * row + readings;
    return divide_others(capacity, offset) + (calls < least ? least : calls);
}

/* Room for events and one of everything else. */
void thread_divide_for_sampler(struct thread *t)
{
    uint64_t *offset = t->spool->offset, end = SPOOL_HEADER_BYTES;
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        t->capacity[i] = i != TABLE_EVENTS;
        offset[i] = end;
        if (i != TABLE_EVENTS) end += aligned(table_layout[i].row_bytes);
    }
    offset[TABLE_EVENTS] = end;
    t->capacity[TABLE_EVENTS] = (t->spool_bytes - end) / sizeof(struct file_event) - 1; /* a flush's own begin */
    for (int i = 0; i < BUFFERED_TABLES; i++) t->rows[i] = (char *)t->spool + offset[i];
}
