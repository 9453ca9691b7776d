! Rank 1 calls MPI_Abort(4); compiled with USE_MPI or USE_F08 by the preprocessor.
program aborts
#ifdef USE_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 1) call MPI_Abort(MPI_COMM_WORLD, 4, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program aborts
