! A tool for MPI's Fortran procedures: counts barriers, and says at MPI_FINALIZE how often each rank had them.

module other_tool
  implicit none
  integer :: barriers = 0
end module

subroutine MPI_Barrier(comm, ierror)
  use other_tool
  implicit none
  integer :: comm, ierror
  barriers = barriers + 1
  call PMPI_Barrier(comm, ierror)
end subroutine

subroutine MPI_Finalize(ierror)
  use other_tool
  implicit none
  integer :: ierror
  print '(a, i0)', 'counted ', barriers
  flush (6)
  call PMPI_Finalize(ierror)
end subroutine

subroutine MPI_Init(ierror)
  implicit none
  integer :: ierror
  call PMPI_Init(ierror)
end subroutine
