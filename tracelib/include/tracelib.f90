! Regions and events of a Fortran program in its trace: compile this file with the program, and
!
!     use tracelib
!     call tracelib_region_begin("solve")
!     call tracelib_region_parameter("n", n)
!     ...
!     call tracelib_region_end("solve")
!
! There is nothing to link. Where libtrace.so is not loaded the procedures do nothing. What they record says tracelib.h.
! Blanks at the end of a name do not count.
module tracelib
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: tracelib_region_begin, tracelib_region_end, tracelib_region_parameter, tracelib_region_parallel, &
              tracelib_event, tracelib_label_type, tracelib_label_value, tracelib_pause, tracelib_resume

    !> An integer of either kind is recorded as one, a real number in double precision.
    interface tracelib_region_parameter
        module procedure parameter_double, parameter_single, parameter_integer, parameter_long
    end interface

    interface tracelib_event
        module procedure event_integer, event_long
    end interface

    interface tracelib_label_value
        module procedure label_value_integer, label_value_long
    end interface

    !> struct tracelib_functions of tracelib.h
    type, bind(C) :: table
        integer(c_size_t) :: bytes
        type(c_funptr) :: region_begin, region_end, region_parameter, region_parameter_integer, region_parallel, &
                          event, label_type, label_value, pause, resume
    end type

    abstract interface
        subroutine with_name(name, length) bind(C)
            import :: c_char, c_size_t
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length
        end subroutine
        subroutine with_real(name, length, number) bind(C)
            import :: c_char, c_size_t, c_double
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length
            real(c_double), value :: number
        end subroutine
        subroutine with_integer(name, length, number) bind(C)
            import :: c_char, c_size_t, c_long_long
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length
            integer(c_long_long), value :: number
        end subroutine
        subroutine with_number(number) bind(C)
            import :: c_long_long
            integer(c_long_long), value :: number
        end subroutine
        subroutine with_event(kind, number) bind(C)
            import :: c_int, c_long_long
            integer(c_int), value :: kind
            integer(c_long_long), value :: number
        end subroutine
        subroutine with_type_name(kind, name, length) bind(C)
            import :: c_char, c_int, c_size_t
            integer(c_int), value :: kind
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length
        end subroutine
        subroutine with_nothing() bind(C)
        end subroutine
        subroutine with_value_name(kind, number, name, length) bind(C)
            import :: c_char, c_int, c_long_long, c_size_t
            integer(c_int), value :: kind
            integer(c_long_long), value :: number
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: length
        end subroutine
    end interface

    interface
        function dlsym(handle, name) bind(C, name="dlsym") result(address)
            import :: c_char, c_ptr
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr) :: address
        end function
    end interface

    integer, parameter :: unknown = 0, absent = 1, loaded = 2
    integer, volatile :: state = unknown
    procedure(with_name), pointer :: region_begin, region_end
    procedure(with_real), pointer :: region_real
    procedure(with_integer), pointer :: region_integer
    procedure(with_number), pointer :: region_parallel
    procedure(with_event), pointer :: event
    procedure(with_type_name), pointer :: label_type
    procedure(with_value_name), pointer :: label_value
    procedure(with_nothing), pointer :: pause_calls, resume_calls

contains

    !> Whether libtrace.so is loaded into this process. Threads that ask at once all find the same.
    logical function is_traced()
        if (state == unknown) call find()
        is_traced = state == loaded
    end function

    subroutine find()
        type(c_ptr) :: address
        type(table), pointer :: functions
        address = dlsym(c_null_ptr, "tracelib_functions" // c_null_char)
        if (.not. c_associated(address)) then
            state = absent
            return
        end if
        call c_f_pointer(address, functions)
        if (functions%bytes < c_sizeof(functions)) then
            state = absent
            return
        end if
        call c_f_procpointer(functions%region_begin, region_begin)
        call c_f_procpointer(functions%region_end, region_end)
        call c_f_procpointer(functions%region_parameter, region_real)
        call c_f_procpointer(functions%region_parameter_integer, region_integer)
        call c_f_procpointer(functions%region_parallel, region_parallel)
        call c_f_procpointer(functions%event, event)
        call c_f_procpointer(functions%label_type, label_type)
        call c_f_procpointer(functions%label_value, label_value)
        call c_f_procpointer(functions%pause, pause_calls)
        call c_f_procpointer(functions%resume, resume_calls)
        state = loaded
    end subroutine

    pure integer(c_size_t) function length(name)
        character(len=*), intent(in) :: name
        length = len_trim(name, c_size_t)
    end function

    !> A region of the program begins, on this thread. Regions nest.
    subroutine tracelib_region_begin(name)
        character(len=*), intent(in) :: name
        if (is_traced()) call region_begin(name, length(name))
    end subroutine

    !> It ends, with all regions inside it that were left open.
    subroutine tracelib_region_end(name)
        character(len=*), intent(in) :: name
        if (is_traced()) call region_end(name, length(name))
    end subroutine

    subroutine parameter_double(name, number)
        character(len=*), intent(in) :: name
        real(c_double), intent(in) :: number
        if (is_traced()) call region_real(name, length(name), number)
    end subroutine

    subroutine parameter_single(name, number)
        character(len=*), intent(in) :: name
        real(c_float), intent(in) :: number
        if (is_traced()) call region_real(name, length(name), real(number, c_double))
    end subroutine

    subroutine parameter_integer(name, number)
        character(len=*), intent(in) :: name
        integer(c_int), intent(in) :: number
        if (is_traced()) call region_integer(name, length(name), int(number, c_long_long))
    end subroutine

    subroutine parameter_long(name, number)
        character(len=*), intent(in) :: name
        integer(c_long_long), intent(in) :: number
        if (is_traced()) call region_integer(name, length(name), number)
    end subroutine

    !> What if the innermost region ran on so many threads? Its computation stands for theirs together.
    subroutine tracelib_region_parallel(threads)
        integer, intent(in) :: threads
        if (is_traced()) call region_parallel(int(threads, c_long_long))
    end subroutine

    !> An event at this moment. Types from 40000000 to 69999999 belong to the tracer.
    subroutine event_integer(kind, number)
        integer, intent(in) :: kind
        integer(c_int), intent(in) :: number
        if (is_traced()) call event(int(kind, c_int), int(number, c_long_long))
    end subroutine

    subroutine event_long(kind, number)
        integer, intent(in) :: kind
        integer(c_long_long), intent(in) :: number
        if (is_traced()) call event(int(kind, c_int), number)
    end subroutine

    !> What the events of a type are called.
    subroutine tracelib_label_type(kind, name)
        integer, intent(in) :: kind
        character(len=*), intent(in) :: name
        if (is_traced()) call label_type(int(kind, c_int), name, length(name))
    end subroutine

    !> What one of their values means.
    subroutine label_value_integer(kind, number, name)
        integer, intent(in) :: kind
        integer(c_int), intent(in) :: number
        character(len=*), intent(in) :: name
        if (is_traced()) call label_value(int(kind, c_int), int(number, c_long_long), name, length(name))
    end subroutine

    subroutine label_value_long(kind, number, name)
        integer, intent(in) :: kind
        integer(c_long_long), intent(in) :: number
        character(len=*), intent(in) :: name
        if (is_traced()) call label_value(int(kind, c_int), number, name, length(name))
    end subroutine

    !> No calls of this process are recorded from here on, of no thread. Regions and events are.
    subroutine tracelib_pause()
        if (is_traced()) call pause_calls()
    end subroutine

    !> They are again.
    subroutine tracelib_resume()
        if (is_traced()) call resume_calls()
    end subroutine

end module tracelib
