#ifndef FILE_H
#define FILE_H
/* Reading and writing files. */

#include "state/instance.h"
#include "state/sim.h"

/* The thread's OP_FILE; its OP_WAIT for one. */
void file_access(struct sim *sim, struct thread *thread);
void file_wait(struct sim *sim, struct thread *thread);

/* The members that the thread's operation meets for a file are all there. */
void file_met(const struct instance *instance, struct thread *thread);

#endif
