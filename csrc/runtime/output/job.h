/* Which of the processes on this and other nodes were started together, without asking them. */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>

enum { JOB_KEY_ROOM = 256 };

/* Write a text that is the same in all processes of one mpirun and differs between two: the launcher's name of the job,
 * the port where hydra's proxies report, or the process that started us. Returns false if no launcher has started us.
 * Context: any thread, no lock. */
bool job_key(char key[JOB_KEY_ROOM]);

#endif
