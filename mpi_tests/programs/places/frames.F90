! Frames of Fortran, with the interface that INTERFACE names: 1 mpif.h, 2 use mpi, 3 use mpi_f08.
#define AT call here(__LINE__) ; call

module kept
    use iso_c_binding
    implicit none
    interface
        subroutine here(line) bind(C, name="fortran_here")
            import c_int
            integer(c_int), value :: line
        end subroutine
        subroutine entered() bind(C, name="fortran_entered")
        end subroutine
        subroutine left() bind(C, name="fortran_left")
        end subroutine
        function noted() bind(C, name="write_stack")
            import c_int
            integer(c_int) :: noted
        end function
    end interface
end module

module work
#if INTERFACE == 3
    use mpi_f08
#elif INTERFACE == 2
    use mpi
#endif
    use kept
    implicit none
#if INTERFACE == 1
    include 'mpif.h'
#endif
contains
    subroutine sends()
        integer :: ierror, number, nothing(1)
        nothing = 0
        call entered()
        call here(__LINE__ + 2)
        number = noted()
        call MPI_Send(nothing, 0, MPI_BYTE, MPI_PROC_NULL, number, MPI_COMM_WORLD, ierror)
        call here(__LINE__ + 2)
        number = noted()
        call MPI_Send(nothing, 0, MPI_BYTE, MPI_PROC_NULL, number, MPI_COMM_WORLD, ierror)
        call left()
    end subroutine

    recursive subroutine recurse(n)
        integer, intent(in) :: n
        real :: room(n * 10 + 1)
        call entered()
        room = n
        if (n > 0) then
            AT recurse(n - 1)
        end if
        AT sends()
        if (sum(room) < 0) print *, room
        call left()
    end subroutine

    subroutine contains_others(n)
        integer, intent(in) :: n
        integer :: i
        call entered()
        do i = 1, n
            AT inner(i)
        end do
        call left()
    contains
        subroutine inner(k)
            integer, intent(in) :: k
            call entered()
            AT recurse(k + n)
            call left()
        end subroutine
    end subroutine
end module

program frames
    use work
    implicit none
    integer :: ierror, i
    call here(__LINE__ - 3) ! the compiler's main calls the program
    call entered()
    call MPI_Init(ierror)
    do i = 0, 3
        AT recurse(i)
        AT contains_others(2)
    end do
    call MPI_Finalize(ierror)
end program
