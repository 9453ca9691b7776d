! As planted.c, without threads: `smooth`, and three times as long `solve`, which calls `kernel`.
module heat
   use, intrinsic :: iso_c_binding, only: c_int, c_long, c_double
   implicit none
   private
   public :: smooth, solve, cpu_s
   type, bind(c) :: timespec
      integer(c_long) :: seconds, nanoseconds
   end type timespec
   interface
      integer(c_int) function clock_gettime(clock, now) bind(c)
         import :: c_int, timespec
         integer(c_int), value :: clock
         type(timespec), intent(out) :: now
      end function clock_gettime
   end interface
   real(c_double), volatile :: sink
contains
   real(c_double) function cpu_s()
      integer(c_int), parameter :: of_thread = 3
      type(timespec) :: now
      if (clock_gettime(of_thread, now) /= 0) error stop "no clock"
      cpu_s = real(now%seconds, c_double) + 1d-9 * real(now%nanoseconds, c_double)
   end function cpu_s

   subroutine smooth(seconds)
      real(c_double), intent(in) :: seconds
      real(c_double) :: until, s
      integer :: i
      until = cpu_s() + seconds
      s = 0
      do while (cpu_s() < until)
         do i = 1, 100000
            s = s + 1d0 / i
         end do
      end do
      sink = s
   end subroutine smooth

   subroutine kernel(seconds)
      real(c_double), intent(in) :: seconds
      real(c_double) :: until, s, automatic(8, 1024) ! more of the stack than is copied
      integer :: i
      automatic = seconds
      until = cpu_s() + seconds
      s = 0
      do while (cpu_s() < until)
         do i = 1, 100000
            s = s + automatic(1 + mod(i, 8), 1 + mod(i, 1024)) / i
         end do
      end do
      sink = s
   end subroutine kernel

   subroutine solve(seconds)
      real(c_double), intent(in) :: seconds
      call kernel(seconds)
      sink = 0
   end subroutine solve
end module heat

program planted
   use, intrinsic :: iso_c_binding, only: c_double
   use mpi
   use heat
   implicit none
   integer :: rank, size, error, step, unit
   real(c_double) :: in_smooth, in_solve, begin, middle, mine, step_s
   character(64) :: text
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Comm_size(MPI_COMM_WORLD, size, error)
   call get_command_argument(1, text)
   read (text, *) step_s
   mine = step_s * (1 + real(rank, c_double) / size)
   in_smooth = 0
   in_solve = 0
   do step = 1, 10
      begin = cpu_s()
      call smooth(mine)
      middle = cpu_s()
      call solve(3 * mine)
      in_solve = in_solve + cpu_s() - middle
      in_smooth = in_smooth + middle - begin
      call MPI_Barrier(MPI_COMM_WORLD, error)
   end do
   write (text, '(a,i0,a)') 'hot-', rank, '-0'
   open (newunit=unit, file=text)
   write (unit, '(2f12.6)') in_smooth, in_solve
   close (unit)
   call MPI_Finalize(error)
end program planted
