! The section is copied to an array that lives until the send completed.
program section_temporary
  implicit none
  include 'mpif.h'
  integer :: rank, peer, request, n, ierr
  integer :: out(200), in(100)
  integer :: copy(100)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  out = 7
  n = 99 + max(rank, peer)
  copy(1:n) = out(1:2 * n:2)
  call MPI_Isend(copy, n, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Recv(in, 100, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
  if (.not. (in(100) == 7)) stop 1
end program
