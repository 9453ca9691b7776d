#ifndef MESSAGE_H
#define MESSAGE_H
/* Sends meet receives. */

#include "state/sim.h"

struct message;

/* The thread's operation sends a message; it puts or gets. */
void message_submit(struct sim *sim, struct thread *thread);
void message_access(struct sim *sim, struct thread *thread);

/* It posts a receive; NULL: no memory. */
struct receive *message_post(struct sim *sim, struct thread *thread, struct moment posted);

/* The receive that a rendezvous waits for is posted, ahead of the clock until now. */
void message_met(struct sim *sim, struct message *message);

void message_arrived(struct sim *sim, struct message *message);

/* Its links are free, at another time than it arrives. */
void message_freed(struct sim *sim, struct message *message);

#endif
