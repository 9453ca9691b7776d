#ifndef MESSAGE_H
#define MESSAGE_H
/* Sends meet receives. */

#include "state/sim.h"

struct message;

/* Submit the message of the thread's operation: a send; a put or get. Errors go to the simulation's result. */
void message_submit(struct sim *sim, struct thread *thread);
void message_access(struct sim *sim, struct thread *thread);

/* Post the receive of the thread's operation. Returns NULL if there is no memory. */
struct receive *message_post(struct sim *sim, struct thread *thread, struct moment posted);

/* Go on with a message in rendezvous: its receive, posted ahead of the clock, is due now. Call at PHASE_MEET. */
void message_met(struct sim *sim, struct message *message);

/* Let a message arrive now: it ends its receive and frees its links. Call at PHASE_ARRIVE. */
void message_arrived(struct sim *sim, struct message *message);

/* Free the links of a message that arrives at another time. Call at PHASE_FREE. */
void message_freed(struct sim *sim, struct message *message);

#endif
