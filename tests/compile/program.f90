! Fortran: array operations, strings, internal and formatted input and output.
module shapes
  implicit none
  type point
    real(8) :: x, y
    character(12) :: name
  end type
contains
  pure function norm(p) result(n)
    type(point), intent(in) :: p
    real(8) :: n
    n = sqrt(p%x**2 + p%y**2)
  end function
end module

program ordinary
  use shapes
  implicit none
  type(point) :: p(3)
  real(8), allocatable :: a(:,:), b(:,:)
  integer :: i, k
  character(40) :: text
  do i = 1, 3
    p(i) = point(3 * i, 4 * i, 'point')
    write (p(i)%name(7:), '(i0)') i
  end do
  allocate (a(20, 20), b(20, 20))
  a = 0
  forall (i = 1:20) a(i, i) = i
  b = matmul(a, transpose(a)) + 1
  print '(a, 3f8.2, f10.1)', trim(p(2)%name) // ':', norm(p(2)), sum(b(2:4, :)), maxval(b), b(20, 20)
  text = '17 4.5 word'
  read (text, *) k
  print *, k, index(text, 'word'), text == '17 4.5 word', adjustr(p(1)%name)
end program
