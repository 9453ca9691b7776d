/* Calls that a shared library's destructor makes, maybe after the destructors of all other libraries: CALLS of each, of
 * two procedures in turns or (-DSAME) of one. */
#include <mpi.h>

#ifdef LIBRARY
__attribute__((destructor)) static void destruct(void)
{
    int flag;
    for (int i = 0; i < CALLS; i++) {
        MPI_Finalized(&flag);
#ifndef SAME
        MPI_Initialized(&flag);
#endif
    }
}
void used(void) {}
#else
void used(void);

int main(void)
{
    MPI_Init(0, 0);
    used();
    MPI_Finalize();
    return 0;
}
#endif
