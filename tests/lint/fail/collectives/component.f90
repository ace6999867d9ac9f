! A communicator beside an allocatable array: what is known of the one does not depend on the other.
module steps
  implicit none
  include 'mpif.h'
  type :: part
    integer :: comm, rank
    real(8), allocatable :: values(:)
  end type
contains
  subroutine begin(mine)
    type(part), intent(inout) :: mine
    integer :: error
    call MPI_Comm_dup(MPI_COMM_WORLD, mine%comm, error)
    call MPI_Comm_rank(mine%comm, mine%rank, error)
  end subroutine
end module

program main
  use steps
  implicit none
  type(part) :: mine
  integer :: error
  call MPI_Init(error)
  call begin(mine)
  allocate (mine%values(10))
  if (mine%rank == 0) call MPI_Barrier(mine%comm, error) !~ CS-COL-01 access
  call MPI_Finalize(error)
end program
