// A look at the clock from one function, then 999 from another one.

#include <mpi.h>

static __attribute__((noinline)) double here(void)
{
    double time = MPI_Wtime();
    __asm__ volatile(""); // no call is a jump
    return time;
}

static __attribute__((noinline)) double there(void)
{
    double time = MPI_Wtime();
    __asm__ volatile("");
    return time;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double sum = here();
    for (int i = 0; i < 999; i++) sum += there();
    MPI_Finalize();
    return sum < 0;
}
