! The program that the pages call app.f90: a region with a parameter, and a sum.
program app
    use mpi
    use tracelib
    implicit none
    integer :: rank, total, error
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call tracelib_region_begin("solve")
    call tracelib_region_parameter("n", 500)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call tracelib_region_end("solve")
    call MPI_Finalize(error)
end program
