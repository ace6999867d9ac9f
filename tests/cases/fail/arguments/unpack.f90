! Less is packed than the receiver unpacks.
program unpack
  use mpi
  implicit none
  integer :: ierror, rank, position
  double precision :: values(8)
  integer :: packed(16)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  values = rank
  packed = 0
  position = 0
  call MPI_Pack(values, 8, MPI_DOUBLE_PRECISION, packed, 64, position, MPI_COMM_WORLD, ierror)
  position = 0
  call MPI_Unpack(packed, 32, position, values, 8, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror) !~ CS-ARG-01 operation ranks=0,1
  call MPI_Finalize(ierror)
end program
