/* Which of the processes on this and other nodes were started together, without asking them. */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>

enum { JOB_KEY_ROOM = 256 };

/* A text that is the same in all processes of one mpirun and differs between two: what the launcher calls the job, the
 * port where hydra's proxies report, or the process that started us. False: no launcher has. */
bool job_key(char key[JOB_KEY_ROOM]);

#endif
