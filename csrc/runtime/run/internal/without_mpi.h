/* Programs that use the API of tracelib.h, and may never come to MPI_Init. */
#ifndef WITHOUT_MPI_H
#define WITHOUT_MPI_H

/* Record a program that uses the API. The file is created at once, unless MPI_Init may be on its way. Then it is
 * created when rows are about to be written, and becomes that of the rank if MPI_Init comes later. Context: any thread,
 * not between store_begin and store_end. */
void run_wanted(void);

#endif
