! The halo of a persistent exchange is filled with boundary values while it is pending.
program persistent_halo
  use mpi
  implicit none
  integer, parameter :: n = 8
  integer :: rank, peer, requests(2), step, ierr
  real(8), asynchronous :: u(0:n + 1)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  u = 0
  call MPI_Send_init(u(n), 1, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Recv_init(u(0), 1, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, requests(2), ierr)
  do step = 1, 3
    u(n) = step
    call MPI_Startall(2, requests, ierr) !~ CS-BUF-03 operation
    u(0) = -1 !~ CS-BUF-03 access
    u(1:n - 1) = u(2:n)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)
  print *, u(1) == 3
  call MPI_Finalize(ierr)
end program
