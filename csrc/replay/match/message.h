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

/* The receive that a rendezvous waits for is posted, ahead of the clock until now. */
void message_met(struct sim *sim, struct message *message);

void message_arrived(struct sim *sim, struct message *message);

/* Its links are free, at another time than it arrives. */
void message_freed(struct sim *sim, struct message *message);

#endif
