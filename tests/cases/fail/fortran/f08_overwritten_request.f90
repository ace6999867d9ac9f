! One type(MPI_Request) for two receives: the first can never be completed.
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
  call MPI_Irecv(in(1), 1, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, requests(1), ierr) !~ CS-REQ-02 operation
  call MPI_Irecv(in(2), 1, MPI_INTEGER, peer, 2, MPI_COMM_WORLD, requests(1), ierr) !~ CS-REQ-02 overwrite
  call MPI_Send(out(1), 1, MPI_INTEGER, peer, 1, MPI_COMM_WORLD)
  call MPI_Send(out(2), 1, MPI_INTEGER, peer, 2, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call MPI_Barrier(MPI_COMM_WORLD)
  print *, in(2) == 7
  call MPI_Finalize(ierr)
end program
