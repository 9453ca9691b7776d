#ifndef MATCH_H
#define MATCH_H
#include "matching/half_messages.h"

/* The sends and receives that wait for their other side, and the messages that are complete. */
struct matcher;

/* For the ranks [first, last) among `ranks`: their receives, and their sends, of which those to other ranks go out. The
   CPU of a thread is first_cpu[rank] + thread, and there are files of the ranks that are `present`. NULL: no memory. */
struct matcher *match_new(int32_t first, int32_t last, int32_t ranks, const int32_t *first_cpu, const uint8_t *present);
void match_free(struct matcher *matcher);

/* Adds the next sends of a source in its order of sending; -1 if memory is short. */
int match_add_sends(struct matcher *matcher, int32_t source, const struct half *sends, int64_t n);

/* Adds the next receives of a destination in its order of posting; else as above. */
int match_add_receives(struct matcher *matcher, int32_t destination, const struct half *receives, int64_t n);

enum { MATCH_NO_MEMORY = -1, MATCH_ADDED = 0, MATCH_UNUSUAL = 1 };

/* Adds the sends and receives of a rank of one thread from its rows in a window, [begin, end) (ns); behind the requests
   are those `late` ones that belong to it and lie in a later one. MATCH_UNUSUAL: nothing was added, because sends were
   cancelled or not in order, or a half has no known communicator or no file of its other side. */
int match_add_rows(struct matcher *matcher, const struct lane *lane, const void *calls, int64_t n_calls,
                   const void *requests, int64_t n_requests, int64_t late, int64_t begin, int64_t end);

/* How many sends are to go out, and have not been taken. */
int64_t match_going(const struct matcher *matcher);

/* Takes them: those of a source in its order. */
void match_take_going(struct matcher *matcher, struct outgoing *sends);

/* Adds sends that went out of another matcher; else as match_add_sends. */
int match_add_coming(struct matcher *matcher, const struct outgoing *sends, int64_t n);

/* How many messages are complete, and have not been taken. */
int64_t match_found(const struct matcher *matcher);

/* Takes them: struct trace_message, of which `reserved` counts the sends of its source. */
void match_take(struct matcher *matcher, void *messages);

/* How many halves have met a ghost: their partner was not recorded. */
int64_t match_alone(const struct matcher *matcher);

/* How many halves still wait; copies those of up to `room`: rank it belongs to, 1 for a send, the half. */
int64_t match_waiting(const struct matcher *matcher, int64_t room, int32_t *ranks, int32_t *sends, struct half *halves);

#endif
