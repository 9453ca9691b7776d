/* What is said where the program's calls of MPI pass this library by. */
#ifndef BYPASS_H
#define BYPASS_H

/* At the start: name other tools for MPI to who debugs (`tracelib doctor`). */
void bypass_begin(void);

/* At the end of the process, while MPI's library is still there: has the program initialized MPI, and not through this
 * library? One line says so, and why. */
void bypass_end(void);

#endif
