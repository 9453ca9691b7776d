! The bodies of nbody.c in Fortran: a master sends all positions, and each rank returns the accelerations of its share.
!
!     nbody BODIES STEPS [monitor | plan] [FACTOR]
program nbody
    use, intrinsic :: iso_c_binding, only: c_double, c_long_long
    use mpi
    use tracelib
    use tracelib_balance
    implicit none
    real(c_double), parameter :: time_step = 1d-3, soft = 1d-2
    real(c_double), allocatable :: at(:, :), speed(:, :), own(:, :), pull(:, :)
    integer(c_long_long), allocatable :: counts(:)
    integer, allocatable :: lengths(:), places(:)
    type(tracelib_monitor) :: monitor
    real(c_double) :: cpu, begun, ended, slowest
    integer :: bodies, steps, factor, rank, ranks, failed, step, k, i
    logical :: watch, good, changed

    call MPI_Init(failed)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, failed)
    bodies = number(1, 1000)
    steps = number(2, 20)
    factor = number(4, 1)
    watch = word(3) == "monitor"
    allocate (counts(ranks), lengths(ranks), places(ranks))
    allocate (at(3, bodies), speed(3, bodies), own(3, bodies), pull(3, bodies))
    call tracelib_monitor_start(monitor, int(bodies, c_long_long), MPI_COMM_WORLD, 0.5d0, 0.1d0, counts)
    call start()
    speed = 0
    cpu = 0
    do step = 1, steps
        call MPI_Bcast(at, 3 * bodies, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, failed)
        call cpu_time(begun)
        call tracelib_monitor_begin(monitor)
        call tracelib_region_begin("compute")
        do k = 1, merge(factor, 1, rank == 0)
            call attract(int(sum(counts(:rank))), int(counts(rank + 1)))
        end do
        call tracelib_region_end("compute")
        call tracelib_monitor_end(monitor)
        call cpu_time(ended)
        cpu = cpu + ended - begun
        lengths = 3 * int(counts)
        places(1) = 0
        do i = 2, ranks
            places(i) = places(i - 1) + lengths(i - 1)
        end do
        call MPI_Gatherv(own, lengths(rank + 1), MPI_DOUBLE_PRECISION, pull, lengths, places, MPI_DOUBLE_PRECISION, 0, &
                         MPI_COMM_WORLD, failed)
        if (rank == 0) then
            speed = speed + time_step * pull
            at = at + time_step * speed
        end if
        if (watch) changed = tracelib_monitor_step(monitor, counts)
    end do
    call MPI_Reduce(cpu, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, failed)
    good = .true.
    if (rank == 0) then
        good = sum(abs(sum(speed, 2) / bodies)) < 1d-12
        print "(a, es15.9, a, f9.4, a, i0)", "nbody: energy ", sum(speed**2) / (2 * bodies), &
            "; the slowest rank computed ", slowest, " s of CPU time; bodies of rank 0: ", counts(1)
        flush (6)
    end if
    call tracelib_monitor_finish(monitor)
    call MPI_Finalize(failed)
    if (.not. good) stop 1

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

    !> A spiral of bodies at rest: the same for all ranks and languages.
    subroutine start()
        real(c_double) :: part, turn
        do i = 1, bodies
            part = (i - 0.5d0) / bodies
            turn = 2.399963229728653d0 * (i - 1)
            at(:, i) = [part * cos(turn), part * sin(turn), 2 * part - 1]
        end do
    end subroutine

    !> Accelerations of the bodies after `first`, of equal masses that add up to 1.
    subroutine attract(first, count)
        integer, intent(in) :: first, count
        real(c_double) :: away(3), squared
        integer :: here, j
        do here = 1, count
            own(:, here) = 0
            do j = 1, bodies
                away = at(:, j) - at(:, first + here)
                squared = sum(away**2) + soft
                own(:, here) = own(:, here) + away / (squared * sqrt(squared) * bodies)
            end do
        end do
    end subroutine

end program nbody
