/* Hands events to OTF2: see archive.h. */
#include "otf2/archive.h"

#include <stddef.h>

typedef int (*with_region)(void *, void *, uint64_t, uint32_t);
typedef int (*with_message)(void *, void *, uint64_t, uint32_t, uint32_t, uint32_t, uint64_t);
typedef int (*with_message_and_request)(void *, void *, uint64_t, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t);
typedef int (*with_request)(void *, void *, uint64_t, uint64_t);
typedef int (*with_nothing)(void *, void *, uint64_t);
typedef int (*with_collective)(void *, void *, uint64_t, uint8_t, uint32_t, uint32_t, uint64_t, uint64_t);
typedef int (*with_arguments)(void *, void *, uint64_t, uint32_t, uint32_t, const uint32_t *);
typedef int (*with_status)(void *, void *, uint64_t, int64_t);

static int write_one(void *function, void *writer, const struct archive_event *e)
{
    uint64_t time = (uint64_t)e->time, length = (uint64_t)e->length, request = (uint64_t)e->request;
    switch ((enum archive_kind)e->kind) {
    case ARCHIVE_ENTER:
    case ARCHIVE_LEAVE:
        return ((with_region)function)(writer, NULL, time, e->what);
    case ARCHIVE_SEND:
    case ARCHIVE_RECV:
        return ((with_message)function)(writer, NULL, time, e->what, e->comm, e->tag, length);
    case ARCHIVE_ISEND:
    case ARCHIVE_IRECV:
        return ((with_message_and_request)function)(writer, NULL, time, e->what, e->comm, e->tag, length, request);
    case ARCHIVE_ISEND_DONE:
    case ARCHIVE_RECV_POSTED:
        return ((with_request)function)(writer, NULL, time, request);
    case ARCHIVE_COLLECTIVE:
        return ((with_nothing)function)(writer, NULL, time);
    case ARCHIVE_COLLECTIVE_END:
        return ((with_collective)function)(writer, NULL, time, (uint8_t)e->what, e->comm, e->tag, length, request);
    case ARCHIVE_PROGRAM_BEGIN:
        return ((with_arguments)function)(writer, NULL, time, e->what, 0, NULL);
    case ARCHIVE_PROGRAM_END:
        return ((with_status)function)(writer, NULL, time, 0);
    case ARCHIVE_KINDS:
        break;
    }
    return -1;
}

int64_t archive_write(void *const *functions, void *writer, const struct archive_event *events, int64_t n)
{
    int64_t i = 0;
    while (i < n && events[i].kind >= 0 && events[i].kind < ARCHIVE_KINDS &&
           !write_one(functions[events[i].kind], writer, &events[i]))
        i++;
    return i;
}
