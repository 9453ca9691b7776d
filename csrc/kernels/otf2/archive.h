#ifndef ARCHIVE_H
#define ARCHIVE_H
#include <stdint.h>

/* Events of OTF2 by the library of the process: its functions are handed over as pointers, so that nothing is linked.

   Source: OTF2 3.0, OTF2_EvtWriter.h, OTF2_EvtReaderCallbacks.h. */

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

/* An event of one location. what: region, rank of the other side in `comm`, collective operation, of the begin of a
   program the string of its name. request: of a
   nonblocking message; of the end of a collective the bytes received. */
struct archive_event {
    int64_t time, length, request;
    uint32_t what, comm, tag; /* tag: of the end of a collective its root */
    int32_t kind;
};

/* `functions`: OTF2_EvtWriter_... by kind. Returns how many of n events were written before the first that failed. */
int64_t archive_write(void *const *functions, void *writer, const struct archive_event *events, int64_t n);

/* The events of one location as they are read. */
struct archive_events;
struct archive_events *archive_events_new(void);
void archive_events_free(struct archive_events *events);

/* How many were read since they were last taken; -1: no memory. */
int64_t archive_events_count(const struct archive_events *events);

/* Writes them out and forgets them. */
void archive_events_take(struct archive_events *events, struct archive_event *out);

/* What OTF2 is to call, with the events as user data, for each event of a kind. */
void *archive_callback(int kind);

/* What OTF2 is to call for memory and to give it back: OTF2_MemoryAllocate and OTF2_MemoryFreeAll. Events of a location
   get one chunk, which OTF2 writes out when it is full; by itself it would hold up to 128 MB of each location. */
void *archive_allocate(void);
void *archive_free_all(void);

#endif
