! How much each rank of a Fortran program should compute: tracelib_balance.h says what the procedures do.
!
!     mpicc -c tracelib_balance.c
!     mpifort tracelib_balance.f90 app.f90 tracelib_balance.o -lm
!
! Communicators are integers; with use mpi_f08 they are comm%MPI_VAL. Ranks count from 0, arrays from 1.
module tracelib_balance
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: tracelib_shares, tracelib_moves, tracelib_monitor, tracelib_monitor_start, tracelib_monitor_begin, &
              tracelib_monitor_end, tracelib_monitor_step, tracelib_monitor_finish

    !> Watches a run; it is passed to all procedures of the monitor.
    type :: tracelib_monitor
        private
        type(c_ptr) :: own = c_null_ptr
    end type

    interface
        function c_shares(items, comm, counts) bind(C, name="tracelib_f_shares") result(found)
            import :: c_int, c_long_long
            integer(c_long_long), value :: items
            integer(c_int), value :: comm
            integer(c_long_long), intent(out) :: counts(*)
            integer(c_int) :: found
        end function
        subroutine c_moves(before, after, ranks, rank, sent, received) bind(C, name="tracelib_f_moves")
            import :: c_int, c_long_long
            integer(c_long_long), intent(in) :: before(*), after(*)
            integer(c_int), value :: ranks, rank
            integer(c_int), intent(out) :: sent(*), received(*)
        end subroutine
        function c_start(items, comm, seconds, threshold, counts) bind(C, name="tracelib_f_monitor_start") result(own)
            import :: c_int, c_long_long, c_double, c_ptr
            integer(c_long_long), value :: items
            integer(c_int), value :: comm
            real(c_double), value :: seconds, threshold
            integer(c_long_long), intent(out) :: counts(*)
            type(c_ptr) :: own
        end function
        subroutine c_begin(own) bind(C, name="tracelib_f_monitor_begin")
            import :: c_ptr
            type(c_ptr), value :: own
        end subroutine
        subroutine c_end(own) bind(C, name="tracelib_f_monitor_end")
            import :: c_ptr
            type(c_ptr), value :: own
        end subroutine
        function c_step(own, counts) bind(C, name="tracelib_f_monitor_step") result(changed)
            import :: c_int, c_long_long, c_ptr
            type(c_ptr), value :: own
            integer(c_long_long), intent(out) :: counts(*)
            integer(c_int) :: changed
        end function
        subroutine c_finish(own) bind(C, name="tracelib_f_monitor_finish")
            import :: c_ptr
            type(c_ptr), value :: own
        end subroutine
    end interface

contains

    !> The items of each rank: counts(1) of rank 0, and so on. found: 0 by a plan, 1 equal ones, -1 the plan is wrong.
    subroutine tracelib_shares(items, comm, counts, found)
        integer(c_long_long), intent(in) :: items
        integer, intent(in) :: comm
        integer(c_long_long), intent(out) :: counts(:)
        integer, intent(out), optional :: found
        integer :: how
        how = c_shares(items, comm, counts)
        if (present(found)) found = how
    end subroutine

    !> How many items rank `rank` sends to each and receives from each when shares change.
    subroutine tracelib_moves(before, after, rank, sent, received)
        integer(c_long_long), intent(in) :: before(:), after(:)
        integer, intent(in) :: rank
        integer, intent(out) :: sent(:), received(:)
        call c_moves(before, after, size(before), rank, sent, received)
    end subroutine

    !> Begin to watch, with the shares of a plan or equal ones: a look at all ranks every so many seconds, and new shares
    !> where they save this part of a step (0.1: a tenth).
    subroutine tracelib_monitor_start(monitor, items, comm, seconds, threshold, counts)
        type(tracelib_monitor), intent(out) :: monitor
        integer(c_long_long), intent(in) :: items
        integer, intent(in) :: comm
        real(c_double), intent(in) :: seconds, threshold
        integer(c_long_long), intent(out) :: counts(:)
        monitor%own = c_start(items, comm, seconds, threshold, counts)
    end subroutine

    !> The program computes its share of a step between these two.
    subroutine tracelib_monitor_begin(monitor)
        type(tracelib_monitor), intent(in) :: monitor
        call c_begin(monitor%own)
    end subroutine

    subroutine tracelib_monitor_end(monitor)
        type(tracelib_monitor), intent(in) :: monitor
        call c_end(monitor%own)
    end subroutine

    !> At the end of each step, by all ranks: whether counts has new shares.
    logical function tracelib_monitor_step(monitor, counts)
        type(tracelib_monitor), intent(in) :: monitor
        integer(c_long_long), intent(inout) :: counts(:)
        tracelib_monitor_step = c_step(monitor%own, counts) /= 0
    end function

    !> Print what it did and cost, and end it.
    subroutine tracelib_monitor_finish(monitor)
        type(tracelib_monitor), intent(inout) :: monitor
        call c_finish(monitor%own)
        monitor%own = c_null_ptr
    end subroutine

end module tracelib_balance
