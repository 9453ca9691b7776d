! As whereabouts.c: procedures of a module, contained, external, with a C name. note() is in note.c.
module exchange_mod
  use iso_c_binding, only: c_char, c_int, c_null_char
  implicit none
  interface
    subroutine note(line, function) bind(c, name="note")
      import :: c_char, c_int
      integer(c_int), value :: line
      character(kind=c_char), intent(in) :: function(*)
    end subroutine
  end interface
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    call note(__LINE__, "exchange_mod::exchange"//c_null_char)
    call inner(n)
    call bound(n)
  contains
    subroutine inner(k)
      integer, intent(in) :: k
      call note(__LINE__, "inner"//c_null_char)
      if (k > 1) call note(__LINE__, "inner"//c_null_char)
    end subroutine
  end subroutine
  subroutine bound(n) bind(c, name="c_bound")
    integer, intent(in) :: n
    if (n > 0) call note(__LINE__, "c_bound"//c_null_char)
  end subroutine
end module

subroutine external_one(n)
  use exchange_mod
  implicit none
  integer, intent(in) :: n
  call note(__LINE__, "external_one"//c_null_char)
  call exchange(n)
end subroutine

program demo
  use exchange_mod
  implicit none
  call note(__LINE__, "program"//c_null_char)
  call external_one(2)
  call inside
  call note(__LINE__, "program"//c_null_char)
contains
  subroutine inside
    call note(__LINE__, "inside"//c_null_char)
  end subroutine
end program
