! A token goes round the ring, and each rank adds its number to it: `use mpi`.
!
!     mpifort ring_mpi.f90 -o ring_mpi
!     mpirun -n 4 ./ring_mpi 100
program ring
   use mpi
   implicit none
   integer :: rank, ranks, next, previous, rounds, round, token, error, status

   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
   next = modulo(rank + 1, ranks)
   previous = modulo(rank - 1, ranks)
   rounds = argument(100)

   token = 0
   do round = 1, rounds
      if (rank == 0) then
         call MPI_Send(token, 1, MPI_INTEGER, next, round, MPI_COMM_WORLD, error)
         call MPI_Recv(token, 1, MPI_INTEGER, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      else
         call MPI_Recv(token, 1, MPI_INTEGER, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
         token = token + rank
         call MPI_Send(token, 1, MPI_INTEGER, next, round, MPI_COMM_WORLD, error)
      end if
   end do
   status = 0
   if (rank == 0) then
      print '(a, i0, a, i0)', 'token ', token, ', expected ', rounds*ranks*(ranks - 1)/2
      if (token /= rounds*ranks*(ranks - 1)/2) status = 1
   end if
   call MPI_Finalize(error)
   if (status /= 0) stop 1

contains

   integer function argument(default)
      integer, intent(in) :: default
      character(len=16) :: word
      integer :: problem
      call get_command_argument(1, word)
      read (word, *, iostat=problem) argument
      if (problem /= 0 .or. argument < 1) argument = default
   end function
end program
