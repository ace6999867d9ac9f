! One element of a request array for each receive.
program f08_overwritten_request
  use mpi_f08
  implicit none
  integer :: rank, peer, ierr
  type(MPI_Request) :: requests(2)
  integer, asynchronous :: in(2)
  integer :: out(2)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  out = 7
  in = 0
  call MPI_Irecv(in(1), 1, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Irecv(in(2), 1, MPI_INTEGER, peer, 2, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Send(out(1), 1, MPI_INTEGER, peer, 1, MPI_COMM_WORLD)
  call MPI_Send(out(2), 1, MPI_INTEGER, peer, 2, MPI_COMM_WORLD)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize(ierr)
  if (.not. (in(1) == 7)) stop 1
end program
