! PRINT formats a number that was received.
program list_directed_print
  use mpi
  implicit none
  integer :: rank, peer, request, ierr
  real(8), asynchronous :: norm
  real(8) :: mine
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  mine = 7
  norm = 0
  call MPI_Irecv(norm, 1, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Send(mine, 1, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  print *, 'norm', norm
  call MPI_Finalize(ierr)
  if (.not. (norm == mine)) stop 1
end program
