/* Errors that calls return to the program. Contract: frame.h. */
#ifndef ERRORS_H
#define ERRORS_H

#include "calls/frame.h"

/* Store the class of the error of a call that failed, as an event at its exit. */
void record_error(const struct frame *f);

/* Store a call that an error handler of the program has left by longjmp or an exception, as one without length. Called
 * at the thread's next call, before anything of that call. */
void record_left(struct thread *t);

/* Tell whether the call received a message: it succeeded, or the message was only too long for the buffer. */
bool has_received(const struct frame *f);

#endif
