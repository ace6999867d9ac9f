! gfortran's runtime and array operations, watched through the C harness (see fortran.c).
program fortran
  use iso_c_binding
  implicit none
  interface
    subroutine watch_area() bind(c)
    end subroutine
    subroutine wrote(line, p, size, by) bind(c)
      import
      integer(c_int), value :: line
      type(c_ptr), value :: p
      integer(c_size_t), value :: size
      character(kind=c_char) :: by(*)
    end subroutine
    subroutine did_read(line, p, size, by) bind(c)
      import
      integer(c_int), value :: line
      type(c_ptr), value :: p
      integer(c_size_t), value :: size
      character(kind=c_char) :: by(*)
    end subroutine
    subroutine nothing_more(line) bind(c)
      import
      integer(c_int), value :: line
    end subroutine
    subroutine forget() bind(c)
    end subroutine
    integer(c_int) function finish() bind(c)
      import
    end function
    type(c_ptr) function area_at(offset) bind(c)
      import
      integer(c_int), value :: offset
    end function
  end interface
  integer, pointer :: i(:)
  real(8), pointer :: r(:), m(:,:)
  character(10), pointer :: c
  character(80) :: line
  character(*), parameter :: reading = 'READ statement'//c_null_char
  character(*), parameter :: writing = 'WRITE statement'//c_null_char
  integer :: k

  call c_f_pointer(area_at(0), i, [100])
  call c_f_pointer(area_at(1024), r, [100])
  call c_f_pointer(area_at(4096), m, [10, 10])
  call c_f_pointer(area_at(8192), c)

  call watch_area()
  line = '3 2.5 word'
  read (line, *) i(3), r(2), c
  call wrote(__LINE__, c_loc(i(3)), 4_8, reading)
  call wrote(__LINE__, c_loc(r(2)), 8_8, reading)
  call wrote(__LINE__, c_loc(c), 10_8, reading)
  read (line, *, iostat=k) i(3), i(4)   ! the second fails: nothing stored
  call wrote(__LINE__, c_loc(i(3)), 4_8, reading)
  write (line, *) i(3), c
  call did_read(__LINE__, c_loc(i(3)), 4_8, writing)
  call did_read(__LINE__, c_loc(c), 10_8, writing)
  call forget()

  m = 1
  call wrote(__LINE__, c_loc(m), 0_8, 'covers'//c_null_char)
  write (line, '(3f5.1)') m(2:4, 3)
  call did_read(__LINE__, c_loc(m(2, 3)), 24_8, writing)
  write (line, '(3f5.1)') m(3, 2:4)
  call did_read(__LINE__, c_loc(m(3, 2)), 8_8, writing)
  call did_read(__LINE__, c_loc(m(3, 3)), 8_8, writing)
  call did_read(__LINE__, c_loc(m(3, 4)), 8_8, writing)
  call nothing_more(__LINE__)

  call forget()
  line = 'xxxy'
  k = len_trim(line)
  if (c == line(1:k)) error stop 2
  call did_read(__LINE__, c_loc(c), 4_8, 'character comparison'//c_null_char)
  call nothing_more(__LINE__)
  stop_code: block
    integer :: code
    code = finish()
    if (code /= 0) error stop 1
  end block stop_code
end program
