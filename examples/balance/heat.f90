! The solver of heat.c in Fortran: rows that a plan shares out, and that a monitor can share anew. Rows of the grid are
! columns of the arrays, which lie together here.
!
!     heat SIZE STEPS [monitor | plan] [FACTOR]
program heat
    use, intrinsic :: iso_c_binding, only: c_double, c_long_long
    use mpi
    use tracelib
    use tracelib_balance
    implicit none
    real(c_double), parameter :: ratio = 0.2d0, pi = 3.14159265358979323846d0
    real(c_double), allocatable :: now(:, :), next(:, :), swap(:, :)
    integer(c_long_long), allocatable :: counts(:), before(:)
    type(tracelib_monitor) :: monitor
    real(c_double) :: cpu, begun, ended, slowest, error, all_errors
    integer :: size_, steps, factor, rank, ranks, failed, step, k, up, down, rows, first
    logical :: watch

    call MPI_Init(failed)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, failed)
    size_ = number(1, 256)
    steps = number(2, 100)
    factor = number(4, 1)
    watch = word(3) == "monitor"
    allocate (counts(ranks), before(ranks))
    call tracelib_monitor_start(monitor, int(size_, c_long_long), MPI_COMM_WORLD, 0.5d0, 0.1d0, counts)
    call place()
    call start()
    cpu = 0
    do step = 1, steps
        call exchange()
        call cpu_time(begun)
        call tracelib_monitor_begin(monitor)
        call tracelib_region_begin("compute")
        do k = 1, merge(factor, 1, rank == 0)
            call compute()
        end do
        call tracelib_region_end("compute")
        call tracelib_monitor_end(monitor)
        call cpu_time(ended)
        cpu = cpu + ended - begun
        call move_alloc(now, swap)
        call move_alloc(next, now)
        call move_alloc(swap, next)
        if (watch) then
            before = counts
            if (tracelib_monitor_step(monitor, counts)) call move()
        end if
    end do
    error = distance()
    call MPI_Allreduce(error, all_errors, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, failed)
    call MPI_Reduce(cpu, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, failed)
    if (rank == 0) then
        print "(a, es10.3, a, f9.4, a, i0)", "heat: error ", all_errors, "; the slowest rank computed ", slowest, &
            " s of CPU time; rows of rank 0: ", rows
        flush (6)
    end if
    call tracelib_monitor_finish(monitor)
    call MPI_Finalize(failed)
    if (all_errors > 1d-9) stop 1

contains

    function word(at)
        integer, intent(in) :: at
        character(len=32) :: word
        word = ""
        if (command_argument_count() >= at) call get_command_argument(at, word)
    end function

    integer function number(at, default)
        integer, intent(in) :: at, default
        character(len=32) :: text
        text = word(at)
        number = default
        if (text /= "") read (text, *) number
    end function

    !> Who has how many rows.
    subroutine place()
        integer :: other
        rows = int(counts(rank + 1))
        first = int(sum(counts(:rank)))
        up = MPI_PROC_NULL
        down = MPI_PROC_NULL
        if (rows == 0) return
        do other = 0, rank - 1
            if (counts(other + 1) > 0) up = other
        end do
        do other = ranks - 1, rank + 1, -1
            if (counts(other + 1) > 0) down = other
        end do
    end subroutine

    real(c_double) function mode(row, column)
        integer, intent(in) :: row, column
        mode = sin(pi * row / (size_ + 1)) * sin(pi * column / (size_ + 1))
    end function

    subroutine start()
        integer :: i, j
        allocate (now(0:size_ + 1, 0:rows + 1), next(0:size_ + 1, 0:rows + 1))
        now = 0
        next = 0
        do i = 1, rows
            do j = 1, size_
                now(j, i) = mode(first + i, j)
            end do
        end do
    end subroutine

    subroutine exchange()
        call MPI_Sendrecv(now(:, 1), size_ + 2, MPI_DOUBLE_PRECISION, up, 0, now(:, rows + 1), size_ + 2, &
                          MPI_DOUBLE_PRECISION, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, failed)
        call MPI_Sendrecv(now(:, rows), size_ + 2, MPI_DOUBLE_PRECISION, down, 1, now(:, 0), size_ + 2, &
                          MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, failed)
    end subroutine

    subroutine compute()
        integer :: i, j
        do i = 1, rows
            do j = 1, size_
                next(j, i) = now(j, i) + ratio * (now(j - 1, i) + now(j + 1, i) + now(j, i - 1) + now(j, i + 1) &
                                                  - 4 * now(j, i))
            end do
        end do
    end subroutine

    !> Rows go to who has them from now on.
    subroutine move()
        integer :: sent(ranks), received(ranks), from(ranks), to(ranks), i
        call tracelib_moves(before, counts, rank, sent, received)
        sent = sent * (size_ + 2)
        received = received * (size_ + 2)
        from(1) = 0
        to(1) = 0
        do i = 2, ranks
            from(i) = from(i - 1) + sent(i - 1)
            to(i) = to(i - 1) + received(i - 1)
        end do
        call move_alloc(now, swap)
        deallocate (next)
        call place()
        allocate (now(0:size_ + 1, 0:rows + 1), next(0:size_ + 1, 0:rows + 1))
        now = 0
        next = 0
        call MPI_Alltoallv(swap(0, 1), sent, from, MPI_DOUBLE_PRECISION, now(0, 1), received, to, &
                           MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, failed)
    end subroutine

    !> The largest distance from the exact solution of the discrete problem.
    real(c_double) function distance()
        real(c_double) :: decay
        integer :: i, j
        decay = (1 - 8 * ratio * sin(pi / (size_ + 1) / 2)**2)**steps
        distance = 0
        do i = 1, rows
            do j = 1, size_
                distance = max(distance, abs(now(j, i) - decay * mode(first + i, j)))
            end do
        end do
    end function

end program heat
