! Arrays that are shorter than what calls use: of the program, allocated, a dummy argument's.
!# np: 2
module work
  implicit none
  real(8) :: table(8)
contains
  subroutine share(values, count)
    use mpi
    integer, intent(in) :: count
    real(8), intent(inout) :: values(*)
    integer :: error
    call MPI_Bcast(values, count, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error) !~ CS-BUF-07 operation ranks=0,1
  end subroutine
end module

program room
  use mpi
  use work
  implicit none
  integer :: error, numbers(10)
  real(8), allocatable :: line(:)
  call MPI_Init(error)
  numbers = 0
  allocate(line(20))
  line = 0
  call MPI_Bcast(numbers(2), 10, MPI_INTEGER, 0, MPI_COMM_WORLD, error) !~ CS-BUF-07 operation ranks=0,1
  call MPI_Bcast(line(3), 19, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error) !~ CS-BUF-07 operation ranks=0,1
  call share(table, 9)
  deallocate(line)
  call MPI_Finalize(error)
  if (numbers(10) /= 0) stop 1
end program
