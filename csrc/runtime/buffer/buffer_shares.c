#include "buffer/buffer_shares.h"

#include "common/settings.h"
#include "counters/counters.h"
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
    [TABLE_CALLS] = 30,   [TABLE_REQUESTS] = 16, [TABLE_POLLS] = 4,  [TABLE_EVENTS] = 4,
    [TABLE_ACCESSES] = 8, [TABLE_SUMMARIES] = 2, [TABLE_COUNTS] = 0,
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

/* All tables but those of calls and their readings, one behind the other from the header on. Returns their end. */
static uint64_t divide_others(uint64_t capacity[BUFFERED_TABLES], uint64_t offset[BUFFERED_TABLES])
{
    uint64_t end = SPOOL_HEADER_BYTES;
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        if (i == TABLE_CALLS || i == TABLE_COUNTS) continue;
        capacity[i] = share_bytes(i) / table_layout[i].row_bytes;
        if (capacity[i] < least_rows(i)) capacity[i] = least_rows(i);
        offset[i] = end;
        end += (capacity[i] + (i == TABLE_EVENTS)) * table_layout[i].row_bytes; /* a flush's own begin */
    }
    return end;
}

/* Calls get the rest, with room for their readings and for those of one that is not stored yet. */
void thread_divide(struct thread *t)
{
    uint64_t *offset = t->spool->offset, end = divide_others(t->capacity, offset);
    uint64_t readings = t->readings * sizeof(uint64_t), row = sizeof(struct file_call) + readings;
    t->capacity[TABLE_CALLS] = (t->spool_bytes - end - readings) / row;
    t->capacity[TABLE_COUNTS] = (t->capacity[TABLE_CALLS] + 1) * t->readings;
    offset[TABLE_CALLS] = end;
    offset[TABLE_COUNTS] = end + t->capacity[TABLE_CALLS] * sizeof(struct file_call);
    t->spool->set = t->set;
    for (int i = 0; i < BUFFERED_TABLES; i++) t->rows[i] = (char *)t->spool + offset[i];
}

uint64_t thread_buffer_bytes(void)
{
    uint64_t capacity[BUFFERED_TABLES], offset[BUFFERED_TABLES];
    uint64_t readings = counters_most_readings() * sizeof(uint64_t);
    uint64_t calls = share_bytes(TABLE_CALLS), least = LEAST_ROWS * (sizeof(struct file_call) + readings) + readings;
    return divide_others(capacity, offset) + (calls < least ? least : calls);
}

/* Room for events and one of everything else. */
void thread_divide_for_sampler(struct thread *t)
{
    uint64_t *offset = t->spool->offset, end = SPOOL_HEADER_BYTES;
    for (int i = 0; i < BUFFERED_TABLES; i++) {
        t->capacity[i] = i != TABLE_EVENTS;
        offset[i] = end;
        if (i != TABLE_EVENTS) end += table_layout[i].row_bytes;
    }
    offset[TABLE_EVENTS] = end;
    t->capacity[TABLE_EVENTS] = (t->spool_bytes - end) / sizeof(struct file_event) - 1; /* a flush's own begin */
    for (int i = 0; i < BUFFERED_TABLES; i++) t->rows[i] = (char *)t->spool + offset[i];
}
