! Code that flang generates itself, watched through the C harness (see fortran.c).
module kernels
contains
  subroutine scale(a, factor)
    real(8), intent(inout) :: a(:)
    real(8), intent(in) :: factor
    a = a * factor
  end subroutine
  subroutine rows(m, k)
    real(8), intent(inout) :: m(10, 10)
    integer, intent(in) :: k
    integer :: j
    do j = 1, 10
      m(k, j) = j
    end do
  end subroutine
  complex(8) function product_of(z)
    complex(8), intent(in) :: z(2)
    product_of = z(1) * z(2)
  end function
end module

program flang
  use iso_c_binding
  use kernels
  implicit none
  interface
    subroutine watch_area() bind(c)
    end subroutine
    subroutine covers(line, write, p, size) bind(c)
      import
      integer(c_int), value :: line, write
      type(c_ptr), value :: p
      integer(c_size_t), value :: size
    end subroutine
    subroutine nothing_more(line) bind(c)
      import
      integer(c_int), value :: line
    end subroutine
    integer(c_int) function finish() bind(c)
      import
    end function
    type(c_ptr) function area_at(offset) bind(c)
      import
      integer(c_int), value :: offset
    end function
  end interface
  real(8), pointer :: r(:), m(:,:)
  complex(8), pointer :: z(:)
  complex(8) :: w
  integer :: j

  call c_f_pointer(area_at(1024), r, [100])
  call c_f_pointer(area_at(4096), m, [10, 10])
  call c_f_pointer(area_at(8192), z, [2])

  call watch_area()
  call scale(r(11:60), 2.0_8)
  call covers(__LINE__, 1, c_loc(r(11)), 400_8)
  call watch_area()
  call rows(m, 3)
  do j = 1, 10
    call covers(__LINE__, 2, c_loc(m(3, j)), 8_8)
  end do
  call nothing_more(__LINE__)
  call watch_area()
  w = product_of(z)
  call covers(__LINE__, 0, c_loc(z), 32_8)
  if (finish() /= 0) error stop 1
  if (w == (1, 2)) print *, w
end program
