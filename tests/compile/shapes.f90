! Accesses of every shape that Fortran has, watched through the C harness (see fortran.c).
module shapes
  use iso_c_binding
  implicit none
  interface
    subroutine watch_area() bind(c)
    end subroutine
    subroutine covers_write(line, p, size) bind(c)
      import
      integer(c_int), value :: line
      type(c_ptr), value :: p
      integer(c_size_t), value :: size
    end subroutine
    subroutine covers_read(line, p, size) bind(c)
      import
      integer(c_int), value :: line
      type(c_ptr), value :: p
      integer(c_size_t), value :: size
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
    integer(c_int) function touched(write, p) bind(c)
      import
      integer(c_int), value :: write
      type(c_ptr), value :: p
    end function
    subroutine watch_more(p, size) bind(c)
      import
      type(*), dimension(*) :: p
      integer(c_size_t), value :: size
    end subroutine
    subroutine unwatch_more(p, size) bind(c)
      import
      type(*), dimension(*) :: p
      integer(c_size_t), value :: size
    end subroutine
    type(c_ptr) function area_at(offset) bind(c)
      import
      integer(c_int), value :: offset
    end function
  end interface
  type cell
    integer :: id
    real(8) :: position(3)
    complex(8) :: field
  end type
contains
  subroutine assumed_shape(a, b)
    real(8), intent(in) :: a(:)
    real(8), intent(out) :: b(:)
    b = 2 * a
  end subroutine
  subroutine explicit_shape(n, a)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n, n)
    a(2:n-1, 2) = a(1:n-2, 3)
  end subroutine
  subroutine masked(n, a)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    integer :: i
    do concurrent (i = 1:n, mod(i, 3) == 1)
      a(i) = i
    end do
  end subroutine
  subroutine copy_cell(a, b)
    type(cell), intent(in) :: a
    type(cell), intent(out) :: b
    b = a
  end subroutine
  ! gfortran takes `local` for an array that the procedure with the explicit interface forgets.
  integer function local_array(n)
    integer, intent(in) :: n
    integer :: local(16)
    call watch_more(local, 64_8)
    local(n) = 7
    local_array = touched(1, area_at(0)) + local(n)
    call unwatch_more(local, 64_8)
  end function
end module

program main
  use shapes
  real(8), pointer :: x(:), y(:), m(:, :)
  type(cell), pointer :: c, d
  character(12), pointer :: text
  integer :: i

  call c_f_pointer(area_at(0), x, [100])
  call c_f_pointer(area_at(4096), y, [100])
  call c_f_pointer(area_at(4096), m, [10, 10])
  call c_f_pointer(area_at(8192), c)
  call c_f_pointer(area_at(8192 + 256), d)
  call c_f_pointer(area_at(9000), text)

  call watch_area()
  x = 1
  call covers_write(__LINE__, c_loc(x), 800_8)
  call forget()
  x = 0
  call covers_write(__LINE__, c_loc(x), 800_8)
  x(1:8) = y(1:8)
  call covers_read(__LINE__, c_loc(y), 64_8)
  call covers_write(__LINE__, c_loc(x), 64_8)
  call assumed_shape(x(11:20), y(31:40))
  call covers_read(__LINE__, c_loc(x(11)), 80_8)
  call covers_write(__LINE__, c_loc(y(31)), 80_8)
  call nothing_more(__LINE__)
  call explicit_shape(10, m)
  call covers_read(__LINE__, c_loc(m(1, 3)), 64_8)
  call covers_write(__LINE__, c_loc(m(2, 2)), 64_8)
  call nothing_more(__LINE__)
  call masked(100, x)
  do i = 1, 100
    if ((touched(1, c_loc(x(i))) /= 0) .neqv. mod(i, 3) == 1) error stop 2
  end do
  call forget()
  call copy_cell(c, d)
  call covers_read(__LINE__, c_loc(c), 48_8)
  call covers_write(__LINE__, c_loc(d), 48_8)
  c%field = (1d0, 2d0)
  call covers_write(__LINE__, c_loc(c%field), 16_8)
  text = 'short'
  call covers_write(__LINE__, c_loc(text), 12_8)
  call nothing_more(__LINE__)
  if (local_array(5) < 7) error stop 3
  if (finish() /= 0) error stop 1
end program
