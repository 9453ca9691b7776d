/* Takes events from OTF2: see archive.h. */
#include "otf2/archive.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct archive_events {
    struct archive_event *rows;
    int64_t n, room;
    bool failed;
};

enum { GO_ON = 0, STOP = 1 }; /* OTF2_CALLBACK_SUCCESS, OTF2_CALLBACK_INTERRUPT */

struct archive_events *archive_events_new(void)
{
    return calloc(1, sizeof(struct archive_events));
}

void archive_events_free(struct archive_events *events)
{
    if (events) free(events->rows);
    free(events);
}

int64_t archive_events_count(const struct archive_events *events)
{
    return events->failed ? -1 : events->n;
}

void archive_events_take(struct archive_events *events, struct archive_event *out)
{
    if (events->n) memcpy(out, events->rows, (size_t)events->n * sizeof *out);
    events->n = 0;
}

static int add_otf2_event(void *user, struct archive_event event)
{
    struct archive_events *events = user;
    if (events->n == events->room) {
        int64_t room = events->room ? 2 * events->room : 1024;
        struct archive_event *rows = realloc(events->rows, (size_t)room * sizeof *rows);
        if (!rows) {
            events->failed = true;
            return STOP;
        }
        events->rows = rows;
        events->room = room;
    }
    events->rows[events->n++] = event;
    return GO_ON;
}

/* Each begins with the location, the time, the event's number, what we registered and attributes. */
#define CALLBACK(name, ...)                                                                                            \
    static int name(uint64_t location, uint64_t time, uint64_t number, void *user, void *attributes, __VA_ARGS__)
#define UNUSED (void)location, (void)number, (void)attributes

CALLBACK(enter, uint32_t region)
{
    UNUSED;
    return add_otf2_event(user, (struct archive_event){.time = (int64_t)time, .what = region, .kind = ARCHIVE_ENTER});
}

CALLBACK(leave, uint32_t region)
{
    UNUSED;
    return add_otf2_event(user, (struct archive_event){.time = (int64_t)time, .what = region, .kind = ARCHIVE_LEAVE});
}

static int add_otf2_message(void *user, uint64_t time, int kind, uint32_t rank, uint32_t comm, uint32_t tag,
                            uint64_t length, uint64_t request)
{
    return add_otf2_event(
        user, (struct archive_event){(int64_t)time, (int64_t)length, (int64_t)request, rank, comm, tag, kind});
}

CALLBACK(send, uint32_t rank, uint32_t comm, uint32_t tag, uint64_t length)
{
    UNUSED;
    return add_otf2_message(user, time, ARCHIVE_SEND, rank, comm, tag, length, 0);
}

CALLBACK(recv, uint32_t rank, uint32_t comm, uint32_t tag, uint64_t length)
{
    UNUSED;
    return add_otf2_message(user, time, ARCHIVE_RECV, rank, comm, tag, length, 0);
}

CALLBACK(isend, uint32_t rank, uint32_t comm, uint32_t tag, uint64_t length, uint64_t request)
{
    UNUSED;
    return add_otf2_message(user, time, ARCHIVE_ISEND, rank, comm, tag, length, request);
}

CALLBACK(irecv, uint32_t rank, uint32_t comm, uint32_t tag, uint64_t length, uint64_t request)
{
    UNUSED;
    return add_otf2_message(user, time, ARCHIVE_IRECV, rank, comm, tag, length, request);
}

CALLBACK(isend_done, uint64_t request)
{
    UNUSED;
    return add_otf2_message(user, time, ARCHIVE_ISEND_DONE, 0, 0, 0, 0, request);
}

CALLBACK(recv_posted, uint64_t request)
{
    UNUSED;
    return add_otf2_message(user, time, ARCHIVE_RECV_POSTED, 0, 0, 0, 0, request);
}

CALLBACK(collective_end, uint8_t operation, uint32_t comm, uint32_t root, uint64_t sent, uint64_t received)
{
    UNUSED;
    return add_otf2_message(user, time, ARCHIVE_COLLECTIVE_END, operation, comm, root, sent, received);
}

CALLBACK(program_begin, uint32_t name, uint32_t n_arguments, const uint32_t *arguments)
{
    UNUSED;
    (void)n_arguments, (void)arguments;
    return add_otf2_event(user,
                          (struct archive_event){.time = (int64_t)time, .what = name, .kind = ARCHIVE_PROGRAM_BEGIN});
}

CALLBACK(program_end, int64_t status)
{
    UNUSED;
    (void)status;
    return add_otf2_event(user, (struct archive_event){.time = (int64_t)time, .kind = ARCHIVE_PROGRAM_END});
}

void *archive_callback(int kind)
{
    switch ((enum archive_kind)kind) {
    case ARCHIVE_ENTER:
        return (void *)enter;
    case ARCHIVE_LEAVE:
        return (void *)leave;
    case ARCHIVE_SEND:
        return (void *)send;
    case ARCHIVE_ISEND:
        return (void *)isend;
    case ARCHIVE_ISEND_DONE:
        return (void *)isend_done;
    case ARCHIVE_RECV_POSTED:
        return (void *)recv_posted;
    case ARCHIVE_RECV:
        return (void *)recv;
    case ARCHIVE_IRECV:
        return (void *)irecv;
    case ARCHIVE_COLLECTIVE_END:
        return (void *)collective_end;
    case ARCHIVE_PROGRAM_BEGIN:
        return (void *)program_begin;
    case ARCHIVE_PROGRAM_END:
        return (void *)program_end;
    case ARCHIVE_COLLECTIVE: /* its end says all */
    case ARCHIVE_KINDS:
        break;
    }
    return NULL;
}
