! A status has MPI_STATUS_SIZE elements, also in procedures that others contain.
program ring
  implicit none
  include 'mpif.h'
  integer :: rank, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call pass(rank)
  call MPI_Finalize(ierr)
contains
  subroutine pass(rank)
    integer, intent(in) :: rank
    integer :: request, ierr
    integer, allocatable :: status(:)
    double precision :: mine(4), theirs(4)
    allocate (status(MPI_STATUS_SIZE))
    mine = rank
    call MPI_Isend(mine, 4, MPI_DOUBLE_PRECISION, rank, 4, MPI_COMM_WORLD, request, ierr)
    call MPI_Recv(theirs, 4, MPI_DOUBLE_PRECISION, rank, 4, MPI_COMM_WORLD, status, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    print *, rank, 'got', theirs(1)
  end subroutine
end program
