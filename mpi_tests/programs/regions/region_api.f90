! What tracelib.f90 offers, each thing once, noted beside doing it (see regions.c).
include "tracelib.f90"

program region_api
    use mpi
    use tracelib
    implicit none
    integer :: rank, error, notes, i
    character(len=32) :: padded = "padded with blanks"
    character(len=24) :: file

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    write (file, '(a, i0, a)') "notes-", rank, "-0.jsonl"
    open (newunit=notes, file=file, action="write")
    call tracelib_region_begin("solve")
    write (notes, '(a)') '["begin", "solve"]'
    do i = 1, 1000
        call tracelib_region_begin(padded)
        write (notes, '(a)') '["begin", "padded with blanks"]'
        call tracelib_region_parameter("i", i)
        write (notes, '(a, i0, a)') '["integer", "i", ', i, ']'
        call tracelib_region_parameter("x", i/4d0)
        write (notes, '(a, es24.16, a)') '["real", "x", ', i/4d0, ']'
        call tracelib_region_end(padded)
        write (notes, '(a)') '["end", "padded with blanks"]'
    end do
    call tracelib_region_parameter("single", 1.5)
    write (notes, '(a)') '["real", "single", 1.5]'
    call tracelib_region_parameter("long", 5000000000_8)
    write (notes, '(a)') '["integer", "long", 5000000000]'
    call tracelib_region_parallel(16)
    write (notes, '(a)') '["parallel", 16]'
    call tracelib_label_type(1000, "Step")
    call tracelib_label_value(1000, 3, "third")
    call tracelib_label_value(1000, -5000000000_8, "far away")
    call tracelib_event(1000, 3)
    call tracelib_event(1000, -5000000000_8)
    write (notes, '(a)') '["event", 1000, 3]', '["event", 1000, -5000000000]'
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call tracelib_region_end("solve")
    write (notes, '(a)') '["end", "solve"]'
    close (notes)
    call MPI_Finalize(error)
end program region_api
