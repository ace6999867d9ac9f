! PRINT formats a number that is still being received.
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
  call MPI_Irecv(norm, 1, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-02 operation
  call MPI_Send(mine, 1, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, ierr)
  print *, 'norm', norm !~ CS-BUF-02 access
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  print *, norm == mine
  call MPI_Finalize(ierr)
end program
