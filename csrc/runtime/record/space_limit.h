/* A limit on what a rank's file takes on the disk (TRACELIB_LIMIT), and what happens when it is met
 * (TRACELIB_LIMIT_POLICY): decided for whole buffers when they are written.
 *
 * Context: between store_begin and store_end, where nothing else is said. */
#ifndef SPACE_LIMIT_H
#define SPACE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/store.h"
#include "record/thread.h"

/* Read TRACELIB_LIMIT and TRACELIB_LIMIT_POLICY.
 * Context: while the run is prepared. */
void limit_start(void);

/* Return the limit in bytes; 0: none.
 * Context: any thread, no lock: it does not change after limit_start. */
uint64_t limit_bytes(void);

/* Return the bytes of a thread's buffer: `wanted`, or less where the limit is small.
 * Context: while the run is prepared, after limit_start. */
uint64_t limit_buffer_bytes(uint64_t wanted);

/* True if the policy drops blocks from the file again. Such a file is not compressed. */
bool limit_drops(void);

/* Look whether the policy can be kept on the file that was just created; if not, report it and take another one. */
void limit_meet_file(struct store *s);

/* True if the thread's buffer of `bytes` may be written. Makes room for it where the policy is to drop older blocks. */
bool limit_admits(struct store *s, const struct thread *t, uint64_t bytes);

/* Note that the thread's buffer was written, as the latest row of `blocks`. */
void limit_wrote(const struct store *s, const struct thread *t);

/* Leave out the thread's buffer, which has `calls` calls: count its messages, and note where it would be. Returns 0 or
 * errno. */
int limit_leave_out(struct store *s, struct thread *t, uint64_t calls);

/* Note that the thread has emptied its buffer after limit_leave_out.
 * Context: the thread itself. */
void limit_forgot(struct thread *t);

/* True if the limit has stopped the recording: all later rows are lost. */
bool limit_stopped(void);

/* Write, at the end of the run, what is still only counted. Returns 0 or errno. */
int limit_close(struct store *s);

#endif
