! The Fortran programs' count of their own calls and log of their messages; the format is that of truth.h.
module truth
   implicit none
   private
   integer, parameter :: most = 4000
   character(len=32) :: names(100)
   integer :: counts(100) = 0, n_names = 0, n_messages = 0
   character(len=120) :: messages(most)
   public :: called, sent, received, accessed, made, write_truth
contains
   subroutine called(name)
      character(len=*), intent(in) :: name
      integer :: i
      do i = 1, n_names
         if (names(i) == name) exit
      end do
      if (i > n_names) then
         n_names = i
         names(i) = name
      end if
      counts(i) = counts(i) + 1
   end subroutine

   subroutine sent(comm, peer, tag, bytes)
      character(len=*), intent(in) :: comm ! its members by world rank: "0 1"
      integer, intent(in) :: peer, tag, bytes
      call note('sent', comm, peer, tag, bytes)
   end subroutine

   subroutine received(comm, peer, tag, bytes)
      character(len=*), intent(in) :: comm
      integer, intent(in) :: peer, tag, bytes
      call note('received', comm, peer, tag, bytes)
   end subroutine

   subroutine note(what, comm, peer, tag, bytes)
      character(len=*), intent(in) :: what, comm
      integer, intent(in) :: peer, tag, bytes
      n_messages = n_messages + 1
      write (messages(n_messages), '("[""", a, """, """, a, """, ", i0, ", ", i0, ", ", i0, "]")') &
         what, trim(comm), peer, tag, bytes
   end subroutine

   ! A call on a window or file, which count from 1.
   subroutine accessed(name, object, offset, detail, peer, bytes_sent, bytes_received)
      character(len=*), intent(in) :: name
      integer, intent(in) :: object, offset, detail, peer, bytes_sent, bytes_received
      call called(name)
      n_messages = n_messages + 1
      write (messages(n_messages), '("[""access"", """, a, """", 6(", ", i0), "]")') &
         name, object, offset, detail, peer, bytes_sent, bytes_received
   end subroutine

   subroutine made(comm, kind, bytes, unit, flags, name)
      character(len=*), intent(in) :: comm, name
      integer, intent(in) :: kind, bytes, unit, flags
      n_messages = n_messages + 1
      write (messages(n_messages), '("[""object"", """, a, """", 4(", ", i0), ", """, a, """]")') &
         trim(comm), kind, bytes, unit, flags, name
   end subroutine

   subroutine write_truth(rank)
      integer, intent(in) :: rank
      character(len=32) :: file
      integer :: i
      write (file, '("truth-", i0, ".jsonl")') rank
      open (10, file=file)
      do i = 1, n_names
         write (10, '("[""call"", """, a, """, ", i0, ", 0, 0]")') trim(names(i)), counts(i)
      end do
      do i = 1, n_messages
         write (10, '(a)') trim(messages(i))
      end do
      close (10)
   end subroutine
end module
