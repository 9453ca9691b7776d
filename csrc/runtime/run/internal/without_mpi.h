/* Programs that use the API of tracelib.h, and may never come to MPI_Init. */
#ifndef WITHOUT_MPI_H
#define WITHOUT_MPI_H

/* The program uses the API: then it is recorded. The file is created at once, unless MPI_Init may be on its way; then
 * it is when rows are about to be written, and becomes that of the rank if MPI_Init comes later. */
void run_wanted(void);

#endif
