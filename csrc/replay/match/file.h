#ifndef FILE_H
#define FILE_H
/* Reading and writing files. */

#include "state/instance.h"
#include "state/sim.h"

/* Execute the thread's OP_FILE, or its OP_WAIT for one. Errors go to the result of the simulation. */
void file_access(struct sim *sim, struct thread *thread);
void file_wait(struct sim *sim, struct thread *thread);

/* Let the thread go on with its access: all members that it meets for the file are there. */
void file_met(const struct instance *instance, struct thread *thread);

#endif
