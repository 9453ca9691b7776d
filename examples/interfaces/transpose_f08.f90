! A matrix, one block of columns a rank, transposed twice by all-to-all: `use mpi_f08`, error arguments left out.
!
!     mpifort transpose_f08.f90 -o transpose_f08
!     mpirun -n 4 ./transpose_f08 100
program transpose_twice
   use mpi_f08
   implicit none
   type(MPI_Comm) :: comm
   type(MPI_Request) :: request
   integer :: rank, ranks, width, n, row, column
   logical :: same, all_same
   integer, allocatable :: original(:, :), matrix(:, :)

   call MPI_Init()
   call MPI_Comm_dup(MPI_COMM_WORLD, comm)
   call MPI_Comm_rank(comm, rank)
   call MPI_Comm_size(comm, ranks)
   width = argument(100) ! columns of a rank
   n = width*ranks

   allocate (original(n, width), matrix(n, width))
   do column = 1, width
      do row = 1, n
         original(row, column) = row + n*(rank*width + column)
      end do
   end do
   matrix = transposed(original)
   if (matrix(1, 1) /= 1 + rank*width + n) error stop 'the transpose is wrong'
   matrix = transposed(matrix)

   same = all(matrix == original)
   call MPI_Iallreduce(same, all_same, 1, MPI_LOGICAL, MPI_LAND, comm, request)
   call MPI_Wait(request, MPI_STATUS_IGNORE)
   if (rank == 0) print '(i0, a, i0, a, l1)', n, ' x ', n, ' matrix transposed twice is itself: ', all_same
   call MPI_Comm_free(comm)
   call MPI_Finalize()
   if (.not. all_same) error stop 1

contains

   ! Column c of the result is row c of the matrix: square blocks change places, then each is turned.
   function transposed(a) result(b)
      integer, intent(in) :: a(:, :)
      integer :: b(n, width), out(width, width, ranks), in(width, width, ranks), other
      do other = 1, ranks
         out(:, :, other) = transpose(a((other - 1)*width + 1:other*width, :))
      end do
      call MPI_Alltoall(out, width*width, MPI_INTEGER, in, width*width, MPI_INTEGER, comm)
      do other = 1, ranks
         b((other - 1)*width + 1:other*width, :) = in(:, :, other)
      end do
   end function

   integer function argument(default)
      integer, intent(in) :: default
      character(len=16) :: word
      integer :: problem
      call get_command_argument(1, word)
      read (word, *, iostat=problem) argument
      if (problem /= 0 .or. argument < 1) argument = default
   end function
end program
