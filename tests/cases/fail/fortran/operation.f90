! A reduction of the program's own that combines one element more than it is given.
!# np: 1
module operations
  use mpi
  implicit none
contains
  subroutine combine(in, inout, length, kind)
    integer, intent(in) :: length, kind
    integer :: in(*), inout(*)
    integer :: i
    do i = 1, length + 1
      inout(i) = inout(i) + in(i) !~ CS-BUF-09 access
    end do
    if (kind == MPI_DATATYPE_NULL) stop 1
  end subroutine combine
end module operations

program operation_fortran
  use operations
  integer :: ierr, op
  integer, allocatable :: in(:), inout(:)
  call MPI_Init(ierr)
  allocate(in(200), inout(100))
  in = 1
  inout = 2
  call MPI_Op_create(combine, .true., op, ierr)
  call MPI_Reduce_local(in, inout, 100, MPI_INTEGER, op, ierr) !~ CS-BUF-09 operation
  if (any(inout /= 3)) stop 1
  call MPI_Op_free(op, ierr)
  call MPI_Finalize(ierr)
end program operation_fortran
