#ifndef MATCH_H
#define MATCH_H
#include "matching/half_messages.h"

/* The sends and receives that wait for their other side, and the messages that are complete. One thread at a time
   may use a matcher. */
struct matcher;

/* Create a matcher for the ranks [first, last) of `ranks`: it matches their receives with sends, and keeps those of
   their sends that go to other ranks. first_cpu: (ranks); the CPU of a thread is first_cpu[rank] + thread. present:
   (ranks), 1 if there is a file of the rank. Both arrays stay the caller's and must outlive the matcher. Returns
   NULL if there is no memory. */
struct matcher *match_new(int32_t first, int32_t last, int32_t ranks, const int32_t *first_cpu, const uint8_t *present);

/* Free a matcher; NULL is ignored. */
void match_free(struct matcher *matcher);

/* Add the next n sends of a source, in its order of sending. Returns -1 if there is no memory. */
int match_add_sends(struct matcher *matcher, int32_t source, const struct half *sends, int64_t n);

/* Add the next n receives of a destination, in its order of posting. Returns -1 if there is no memory. */
int match_add_receives(struct matcher *matcher, int32_t destination, const struct half *receives, int64_t n);

enum { MATCH_NO_MEMORY = -1, MATCH_ADDED = 0, MATCH_UNUSUAL = 1 };

/* Add the sends and receives of a rank with one thread, from its rows in the window [begin, end) (ns). Behind the
   n_requests requests stand `late` requests of this window that lie in a later one. Returns MATCH_UNUSUAL and adds
   nothing if sends were cancelled or are not in order, or if a half has no known communicator or its other side has
   no file. */
int match_add_rows(struct matcher *matcher, const struct lane *lane, const void *calls, int64_t n_calls,
                   const void *requests, int64_t n_requests, int64_t late, int64_t begin, int64_t end);

/* Return the number of sends that match_take_going will give. */
int64_t match_going(const struct matcher *matcher);

/* Copy the sends to ranks of other matchers and forget them. The sends of one source are in its order of sending. */
void match_take_going(struct matcher *matcher, struct outgoing *sends);

/* Add n sends that match_take_going of another matcher gave. Returns -1 if there is no memory. */
int match_add_coming(struct matcher *matcher, const struct outgoing *sends, int64_t n);

/* Return the number of messages that match_take will give. */
int64_t match_found(const struct matcher *matcher);

/* Copy the complete messages (struct trace_message) and forget them. `reserved` is the number of the send among the
   sends of its source. */
void match_take(struct matcher *matcher, void *messages);

/* Return the number of halves that met a ghost: their partner was not recorded. */
int64_t match_alone(const struct matcher *matcher);

/* Return the number of halves that still wait. Copies at most `room` of them: the rank to which the half belongs, 1
   for a send, and the half. */
int64_t match_waiting(const struct matcher *matcher, int64_t room, int32_t *ranks, int32_t *sends, struct half *halves);

#endif
