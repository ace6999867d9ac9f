! A send buffer is written before the send is complete, an allocatable one, too.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, peer
  integer :: request
  double precision :: values(16)
  double precision, allocatable :: others(:)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  allocate(others(16))
  call MPI_Isend(values, 16, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-01 operation
  values(4) = 1 !~ CS-BUF-01 access
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
end program
