! Arrays that are used up to their ends; blocks that are common to several procedures, each with
! arrays of its own.
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
    call MPI_Bcast(values, count, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  end subroutine
end module

program room
  use mpi
  use work
  implicit none
  integer :: error, numbers(10), lower(-3:3)
  real(8) :: left(4), right(4), plain
  complex(8) :: waves(5)
  real(8), allocatable :: line(:)
  character(len=12) :: name
  common /halo/ left, right
  call MPI_Init(error)
  numbers = 0
  lower = 0
  left = 0
  right = 0
  waves = 0
  plain = 0
  name = 'a name'
  allocate(line(20))
  line = 0
  call MPI_Bcast(numbers(2), 9, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Bcast(lower, 7, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Bcast(line(3), 18, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  call share(table, 8)
  ! Both arrays of the block, which follow each other.
  call share(left, 8)
  call MPI_Bcast(waves, 5, MPI_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD, error)
  call MPI_Bcast(waves, 10, MPI_REAL8, 0, MPI_COMM_WORLD, error)
  call MPI_Bcast(name, 12, MPI_CHARACTER, 0, MPI_COMM_WORLD, error)
  call MPI_Bcast(plain, 1, MPI_REAL8, 0, MPI_COMM_WORLD, error)
  deallocate(line)
  call MPI_Finalize(error)
  if (numbers(10) /= 0) stop 1
end program
