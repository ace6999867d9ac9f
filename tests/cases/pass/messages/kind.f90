! Reals of eight bytes are received as such.
!# np: 2
program kind
  use mpi
  implicit none
  integer :: rank, error, status(MPI_STATUS_SIZE)
  real(8) :: long(4)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  long = rank
  if (rank == 0) then
    call MPI_Send(long, 4, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, error)
  else
    call MPI_Recv(long, 4, MPI_REAL8, 0, 0, MPI_COMM_WORLD, status, error)
  end if
  call MPI_Finalize(error)
end program
