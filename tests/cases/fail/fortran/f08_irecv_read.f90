! An element of a 2-D array is read while its column is being received.
program f08_irecv_read
  use mpi_f08
  implicit none
  integer :: rank, peer, ierr
  type(MPI_Request) :: request
  real(8), asynchronous :: field(10, 5)
  real(8) :: out(10), value
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  field = 1
  out = 7
  call MPI_Irecv(field(:, 3), 10, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-02 operation
  call MPI_Send(out, 10, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, ierr)
  value = field(10, 3) !~ CS-BUF-02 access
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  print *, value == 9
  call MPI_Finalize(ierr)
end program
