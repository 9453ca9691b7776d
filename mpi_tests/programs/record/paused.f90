! 100 messages of i bytes to the next rank, and as many collectives of each kind. Rank 0 records 70 of them, rank 1 60: their numbers are in made-<rank>.txt.
include "tracelib.f90"

program paused
    use mpi
    use tracelib
    implicit none
    integer :: rank, size, error, made, i, request
    character(len=100) :: sent, received
    character(len=16) :: file

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    write (file, '(a, i0, a)') "made-", rank, ".txt"
    open (newunit=made, file=file, action="write")
    sent = " "
    do i = 1, 100
        if (mod(i, 20) == 5 + rank) call tracelib_pause()
        if (mod(i, 20) == 11 + 3*rank) call tracelib_resume()
        if (mod(i, 20) < 5 + rank .or. mod(i, 20) >= 11 + 3*rank) write (made, '(i0)') i
        call MPI_Sendrecv(sent, i, MPI_CHARACTER, mod(rank + 1, size), 0, received, 100, MPI_CHARACTER, &
                          mod(rank + size - 1, size), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        call MPI_Allreduce(sent, received, i, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, error)
        call MPI_Iallreduce(sent, received, i, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    end do
    close (made)
    call MPI_Finalize(error)
end program paused
