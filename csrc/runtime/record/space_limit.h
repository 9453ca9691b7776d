/* A limit on what a rank's file takes on the disk (TRACELIB_LIMIT), and what happens when it is met
 * (TRACELIB_LIMIT_POLICY): decided for whole buffers when they are written. All between store_begin and store_end. */
#ifndef SPACE_LIMIT_H
#define SPACE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/store.h"
#include "record/thread.h"

/* Read the environment. */
void limit_start(void);

uint64_t limit_bytes(void); /* 0: none */

/* The user's buffer, or a smaller one where the limit is small. */
uint64_t limit_buffer_bytes(uint64_t wanted);

/* Will what is in the file be dropped again? Then it is not compressed. */
bool limit_drops(void);

/* The file is there: can the policy be kept on it? */
void limit_meet_file(struct store *s);

/* Is the thread's buffer of so many bytes written? Room is made for it, where the policy is to drop what is older. */
bool limit_admits(struct store *s, const struct thread *t, uint64_t bytes);

/* It was, as the latest row of `blocks`. */
void limit_wrote(const struct store *s, const struct thread *t);

/* It was not: its messages are counted, and where it would be is noted. 0 or errno. */
int limit_leave_out(struct store *s, struct thread *t, uint64_t calls);

/* The thread itself has emptied its buffer after that. */
void limit_forgot(struct thread *t);

/* Nothing more is recorded: what comes is lost. */
bool limit_stopped(void);

/* The run ends: write what is still only counted. 0 or errno. */
int limit_close(struct store *s);

#endif
