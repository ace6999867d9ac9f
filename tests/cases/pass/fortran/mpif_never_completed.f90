! A broadcast of a COMMON block is completed by MPI_TEST in a loop.
program never_completed
  implicit none
  include 'mpif.h'
  integer :: rank, peer, request, ierr
  logical :: done
  real :: parameters(10)
  common /physics/ parameters
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  if (rank == 0) parameters = 7
  call MPI_IBCAST(parameters, 10, MPI_REAL, 0, MPI_COMM_WORLD, request, ierr)
  done = .false.
  do while (.not. done)
    call MPI_TEST(request, done, MPI_STATUS_IGNORE, ierr)
  end do
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
  done = parameters(10) == 7
  call MPI_Finalize(ierr)
  if (.not. (done)) stop 1
end program
