! Another column is read while one is being received.
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
  call MPI_Irecv(field(:, 3), 10, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Send(out, 10, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, ierr)
  value = field(10, 2) + field(1, 4)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  value = value + field(10, 3)
  call MPI_Finalize(ierr)
  if (.not. (value == 9)) stop 1
end program
