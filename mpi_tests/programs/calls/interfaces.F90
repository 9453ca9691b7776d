! Point-to-point, collectives and communicators in Fortran, counted by the program itself.
!
! One text for three interfaces: compiled with -DMPIFH (include 'mpif.h'), -DUSEMPI (use mpi) or -DUSEF08
! (use mpi_f08, the error argument left out). Run with an even number of ranks; pairs are (0,1), (2,3), ...

#include "truth.F90"

#if defined(USEF08)
#define SOURCE(s) s%MPI_SOURCE
#define ERR
#else
#define SOURCE(s) s(MPI_SOURCE)
#define ERR , ierror
#endif

program interfaces
   use truth
#if defined(USEF08)
   use mpi_f08
#elif defined(USEMPI)
   use mpi
#endif
   implicit none
#if defined(MPIFH)
   include 'mpif.h'
#endif
#if defined(USEF08)
   type(MPI_Comm) :: comm
   type(MPI_Request) :: requests(4)
   type(MPI_Status) :: status, statuses(4)
   type(MPI_Group) :: group
#else
   integer :: comm, requests(4), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4), group, ierror
#endif
   integer :: rank, ranks, mate, i
   integer :: message(100), replies(100, 4)
   character(len=64) :: world

   call called('MPI_Init')
#if defined(USEF08)
   call MPI_Init()
#else
   call MPI_Init(ierror)
#endif
   call called('MPI_Comm_rank')
   call MPI_Comm_rank(MPI_COMM_WORLD, rank ERR)
   call called('MPI_Comm_size')
   call MPI_Comm_size(MPI_COMM_WORLD, ranks ERR)
   mate = ieor(rank, 1)
   world = '0'
   do i = 1, ranks - 1
      write (world, '(a, 1x, i0)') trim(world), i
   end do

   do i = 1, 5
      call wildcards(10*i)
      call both_ways(10*i + 1)
      call nonblocking(10*i + 3)
   end do
   call persistent()
   call probes()
   call nobody()
   call collectives()
   call communicators()
   call windows()
   call files()
   call called('MPI_Barrier')
   call MPI_Barrier(MPI_COMM_WORLD ERR)
   call called('MPI_Finalize')
#if defined(USEF08)
   call MPI_Finalize()
#else
   call MPI_Finalize(ierror)
#endif
   call write_truth(rank)

contains

   ! A message says itself who sent it, with which tag, and how many integers it has.
   subroutine fill(dest, tag, n)
      integer, intent(in) :: dest, tag, n
      message(1:3) = [rank, tag, n]
      call sent(world, dest, tag, 4*n)
   end subroutine

   subroutine arrived(buffer)
      integer, intent(inout) :: buffer(:)
      call received(world, buffer(1), buffer(2), 4*buffer(3))
      buffer(3) = 0
   end subroutine

   ! Rank 0 takes from anybody, and mostly does not ask from whom.
   subroutine wildcards(tag)
      integer, intent(in) :: tag
      integer :: k
      if (rank == 0) then
         do k = 1, ranks - 1
            call called('MPI_Recv')
            if (k == 1) then
               call MPI_Recv(message, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status ERR)
               if (SOURCE(status) /= message(1)) stop 5
            else
               call MPI_Recv(message, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
            end if
            call arrived(message)
         end do
      else
         call fill(0, tag, 10 + rank)
         call called('MPI_Send')
         call MPI_Send(message, 10 + rank, MPI_INTEGER, 0, tag, MPI_COMM_WORLD ERR)
      end if
      call called('MPI_Barrier')
      call MPI_Barrier(MPI_COMM_WORLD ERR)
   end subroutine

   subroutine both_ways(tag)
      integer, intent(in) :: tag
      integer :: next, previous
      next = modulo(rank + 1, ranks)
      previous = modulo(rank - 1, ranks)
      call fill(next, tag, 20)
      call called('MPI_Sendrecv')
      call MPI_Sendrecv(message, 20, MPI_INTEGER, next, tag, replies(:, 1), 100, MPI_INTEGER, previous, MPI_ANY_TAG, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
      call arrived(replies(:, 1))
      call fill(next, tag + 1, 21)
      call called('MPI_Sendrecv_replace')
      call MPI_Sendrecv_replace(message, 21, MPI_INTEGER, next, tag + 1, MPI_ANY_SOURCE, tag + 1, &
                                MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
      call arrived(message)
   end subroutine

   subroutine nonblocking(tag)
      integer, intent(in) :: tag
      integer :: k, index, done, indices(4)
      logical :: flag
      do k = 1, 4
         call called('MPI_Irecv')
         call MPI_Irecv(replies(1, k), 100, MPI_INTEGER, MPI_ANY_SOURCE, tag + k, MPI_COMM_WORLD, requests(k) ERR)
      end do
      call called('MPI_Barrier')
      call MPI_Barrier(MPI_COMM_WORLD ERR)
      do k = 1, 4
         call fill(mate, tag + k, 10 + k)
         call called('MPI_Ssend')
         call MPI_Ssend(message, 10 + k, MPI_INTEGER, mate, tag + k, MPI_COMM_WORLD ERR)
      end do
      call called('MPI_Wait')
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE ERR)
      call arrived(replies(:, 1))
      call called('MPI_Waitany')
      call MPI_Waitany(4, requests, index, MPI_STATUS_IGNORE ERR) ! MPICH 4.0's mpi_f08 counts index from 0
      flag = .false.
      do while (.not. flag)
         call called('MPI_Testany')
         call MPI_Testany(4, requests, index, flag, status ERR)
      end do
      call called('MPI_Waitsome')
      call MPI_Waitsome(4, requests, done, indices, MPI_STATUSES_IGNORE ERR)
      if (done /= 1) stop 6
      do k = 2, 4
         call arrived(replies(:, k))
      end do
   end subroutine

   subroutine persistent()
      integer :: k, round
      call called('MPI_Recv_init')
      call MPI_Recv_init(replies, 100, MPI_INTEGER, MPI_ANY_SOURCE, 200, MPI_COMM_WORLD, requests(1) ERR)
      call called('MPI_Send_init')
      call MPI_Send_init(message, 30, MPI_INTEGER, mate, 200, MPI_COMM_WORLD, requests(2) ERR)
      do round = 1, 3
         call fill(mate, 200, 30)
         call called('MPI_Startall')
         call MPI_Startall(2, requests ERR)
         call called('MPI_Waitall')
         if (round == 1) then
            call MPI_Waitall(2, requests, statuses ERR)
         else
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE ERR)
         end if
         call arrived(replies(:, 1))
      end do
      do k = 1, 2
         call called('MPI_Request_free')
         call MPI_Request_free(requests(k) ERR)
      end do
   end subroutine

   subroutine probes()
      logical :: flag
      if (modulo(rank, 2) == 0) then
         call fill(mate, 300, 40)
         call called('MPI_Send')
         call MPI_Send(message, 40, MPI_INTEGER, mate, 300, MPI_COMM_WORLD ERR)
         call fill(mate, 301, 41)
         call called('MPI_Bsend')
         call bsend(41, 301)
      else
         call called('MPI_Probe')
         call MPI_Probe(MPI_ANY_SOURCE, 300, MPI_COMM_WORLD, status ERR)
         call called('MPI_Recv')
         call MPI_Recv(message, 100, MPI_INTEGER, SOURCE(status), 300, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
         call arrived(message)
         flag = .false.
         do while (.not. flag)
            call called('MPI_Iprobe')
            call MPI_Iprobe(mate, 301, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE ERR)
         end do
         call called('MPI_Recv')
         call MPI_Recv(message, 100, MPI_INTEGER, mate, 301, MPI_COMM_WORLD, status ERR)
         call arrived(message)
      end if
   end subroutine

   subroutine bsend(n, tag)
      integer, intent(in) :: n, tag
      integer, save :: space(10000)
      integer :: size
      call called('MPI_Buffer_attach')
      call MPI_Buffer_attach(space, 40000 ERR)
      call MPI_Bsend(message, n, MPI_INTEGER, mate, tag, MPI_COMM_WORLD ERR)
      call called('MPI_Buffer_detach')
#if defined(USEF08)
      block
         use, intrinsic :: iso_c_binding, only: c_ptr
         type(c_ptr) :: address
         call MPI_Buffer_detach(address, size)
      end block
#else
      call MPI_Buffer_detach(space, size, ierror)
#endif
   end subroutine

   subroutine nobody()
      call called('MPI_Send')
      call MPI_Send(message, 5, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD ERR)
      call called('MPI_Recv')
      call MPI_Recv(message, 5, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
   end subroutine

   subroutine collectives()
      integer :: sum(20), all(20*ranks)
      call called('MPI_Bcast')
      call MPI_Bcast(message, 20, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD ERR)
      call called('MPI_Allreduce')
      call MPI_Allreduce(message, sum, 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR)
      call called('MPI_Allreduce')
      call MPI_Allreduce(MPI_IN_PLACE, sum, 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR)
      call called('MPI_Reduce')
      if (rank == 0) then
         call MPI_Reduce(MPI_IN_PLACE, sum, 20, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD ERR)
      else
         call MPI_Reduce(sum, sum, 20, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD ERR)
      end if
      call called('MPI_Allgather')
      call MPI_Allgather(message, 20, MPI_INTEGER, all, 20, MPI_INTEGER, MPI_COMM_WORLD ERR)
      call called('MPI_Iallreduce')
      call MPI_Iallreduce(message, sum, 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1) ERR)
      call called('MPI_Ibarrier')
      call MPI_Ibarrier(MPI_COMM_WORLD, requests(2) ERR)
      call called('MPI_Waitall')
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE ERR)
   end subroutine

   ! Messages between the two members of a pair, in a communicator that holds nobody else.
   subroutine communicators()
      integer :: pair_rank
      character(len=32) :: pair
      write (pair, '(i0, 1x, i0)') min(rank, mate), max(rank, mate)
      call called('MPI_Comm_split')
      call MPI_Comm_split(MPI_COMM_WORLD, rank/2, rank, comm ERR)
      call called('MPI_Comm_set_name')
      call MPI_Comm_set_name(comm, 'two ranks  ' ERR)
      call called('MPI_Comm_rank')
      call MPI_Comm_rank(comm, pair_rank ERR)
      call called('MPI_Sendrecv')
      call sent(pair, 1 - pair_rank, 400, 28)
      call MPI_Sendrecv(message, 7, MPI_INTEGER, 1 - pair_rank, 400, replies(:, 1), 100, MPI_INTEGER, MPI_ANY_SOURCE, &
                        400, comm, MPI_STATUS_IGNORE ERR)
      call received(pair, 1 - pair_rank, 400, 28)
      call called('MPI_Comm_free')
      call MPI_Comm_free(comm ERR)
      call called('MPI_Comm_dup')
      call MPI_Comm_dup(MPI_COMM_WORLD, comm ERR)
      call called('MPI_Comm_group')
      call MPI_Comm_group(comm, group ERR)
      call called('MPI_Group_free')
      call MPI_Group_free(group ERR)
      call called('MPI_Comm_free')
      call MPI_Comm_free(comm ERR)
   end subroutine

   ! Four integers into the window of the next rank, at its sixth.
   subroutine windows()
      integer, save :: memory(64)
      integer(kind=MPI_ADDRESS_KIND) :: bytes, place
#if defined(USEF08)
      type(MPI_Win) :: win
#else
      integer :: win
#endif
      integer :: next
      next = mod(rank + 1, ranks)
      bytes = 256
      place = 5
      call made(world, 1, 256, 4, 1, '')
      call accessed('MPI_Win_create', 1, -1, 0, -1, 0, 0)
      call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win ERR)
      call accessed('MPI_Win_fence', 1, -1, 2048, -1, 0, 0)
      call MPI_Win_fence(MPI_MODE_NOPRECEDE, win ERR)
      call accessed('MPI_Put', 1, 20, 0, next, 16, 0)
      call MPI_Put(message, 4, MPI_INTEGER, next, place, 4, MPI_INTEGER, win ERR)
      call accessed('MPI_Win_fence', 1, -1, 0, -1, 0, 0)
      call MPI_Win_fence(0, win ERR)
      call accessed('MPI_Win_free', 1, -1, 0, -1, 0, 0)
      call MPI_Win_free(win ERR)
   end subroutine

   ! Ten integers of each rank, written and read back.
   subroutine files()
      integer(kind=MPI_OFFSET_KIND) :: place
#if defined(USEF08)
      type(MPI_File) :: file
#else
      integer :: file
#endif
      place = 40*rank
      call made(world, 2, 0, 0, 34, 'fortran.dat')
      call accessed('MPI_File_open', 2, -1, 0, -1, 0, 0)
      call MPI_File_open(MPI_COMM_WORLD, 'fortran.dat', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file ERR)
      call accessed('MPI_File_write_at_all', 2, 40*rank, 0, -1, 40, 0)
      call MPI_File_write_at_all(file, place, message, 10, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
      call accessed('MPI_File_sync', 2, -1, 0, -1, 0, 0)
      call MPI_File_sync(file ERR)
      call called('MPI_Barrier')
      call MPI_Barrier(MPI_COMM_WORLD ERR)
      call accessed('MPI_File_seek', 2, 40*rank, 0, -1, 0, 0)
      call MPI_File_seek(file, place, MPI_SEEK_SET ERR)
      call accessed('MPI_File_read', 2, 40*rank, 0, -1, 0, 40)
      call MPI_File_read(file, message, 10, MPI_INTEGER, status ERR)
      call accessed('MPI_File_close', 2, -1, 0, -1, 0, 0)
      call MPI_File_close(file ERR)
   end subroutine
end program
