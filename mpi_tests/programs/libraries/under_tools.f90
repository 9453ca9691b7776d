! Each rank has 5 barriers.

program under_tools
  implicit none
  include 'mpif.h'
  integer :: i, ierror
  call MPI_Init(ierror)
  do i = 1, 5
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  call MPI_Finalize(ierror)
end program
