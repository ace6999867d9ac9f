! Reals of eight bytes are received as reals of four.
!# np: 2
program kind
  use mpi
  implicit none
  integer :: rank, error, status(MPI_STATUS_SIZE)
  real(8) :: long(4)
  real(4) :: short(8)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  long = rank
  if (rank == 0) then
    call MPI_Send(long, 4, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, error) !~ CS-MSG-01 operation
  else
    call MPI_Recv(short, 8, MPI_REAL, 0, 0, MPI_COMM_WORLD, status, error) !~ CS-MSG-01 access
  end if
  call MPI_Finalize(error)
end program
