#ifndef ARCHIVE_H
#define ARCHIVE_H
#include <stdint.h>

/* Writes and reads events of OTF2 with the library that the process has loaded: Python hands over its functions as
   pointers, so nothing is linked.

   Source: OTF2 3.0, OTF2_EvtWriter.h, OTF2_EvtReaderCallbacks.h. */

/* Kinds of events. */
enum archive_kind {
    ARCHIVE_ENTER,
    ARCHIVE_LEAVE,
    ARCHIVE_SEND,
    ARCHIVE_ISEND,
    ARCHIVE_ISEND_DONE,
    ARCHIVE_RECV_POSTED,
    ARCHIVE_RECV,
    ARCHIVE_IRECV,
    ARCHIVE_COLLECTIVE,
    ARCHIVE_COLLECTIVE_END,
    ARCHIVE_PROGRAM_BEGIN,
    ARCHIVE_PROGRAM_END,
    ARCHIVE_KINDS
};

/* An event of one location. time: in the archive's ticks. what: the region; the rank of the other side in `comm`;
   the collective operation; of ARCHIVE_PROGRAM_BEGIN, the string of the program's name. request: of a nonblocking
   message; of ARCHIVE_COLLECTIVE_END, the bytes received. */
struct archive_event {
    int64_t time, length, request;
    uint32_t what, comm, tag; /* tag: of ARCHIVE_COLLECTIVE_END, the root */
    int32_t kind;
};

/* Write n events with an OTF2_EvtWriter. functions: the OTF2_EvtWriter_... of each kind. Returns the number of
   events written before the first that failed. */
int64_t archive_write(void *const *functions, void *writer, const struct archive_event *events, int64_t n);

/* The events of one location that were read and not taken yet. */
struct archive_events;

/* Create an empty list of events. Returns NULL if there is no memory. */
struct archive_events *archive_events_new(void);

/* Free a list of events. */
void archive_events_free(struct archive_events *events);

/* Return the number of events read since they were last taken; -1: there was no memory for one. */
int64_t archive_events_count(const struct archive_events *events);

/* Copy the events to `out` (archive_events_count) and forget them. */
void archive_events_take(struct archive_events *events, struct archive_event *out);

/* Return the callback that OTF2 must call for events of a kind, with the archive_events as user data. */
void *archive_callback(int kind);

/* Return the callbacks for OTF2_MemoryAllocate and OTF2_MemoryFreeAll. Events of a location get one chunk, which
   OTF2 writes out when it is full; with its own allocator OTF2 would hold up to 128 MB for each location. */
void *archive_allocate(void);
void *archive_free_all(void);

#endif
