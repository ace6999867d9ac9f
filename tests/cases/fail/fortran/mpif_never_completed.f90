! A broadcast is started on a COMMON block and never completed.
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
  call MPI_IBCAST(parameters, 10, MPI_REAL, 0, MPI_COMM_WORLD, request, ierr) !~ CS-REQ-01 operation
  done = .false.
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
  done = peer < 2
  print *, done
  call MPI_Finalize(ierr)
end program
