! Each rank of a ring sends to the next before it receives.
!# np: 4
!# options: --stuck-after 1
program ring
  use mpi
  implicit none
  integer :: rank, ranks, next, before, error, status(MPI_STATUS_SIZE)
  real(8) :: mine(4), theirs(4)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  mine = rank
  call MPI_Ssend(mine, 4, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, error) !~ CS-DLK-01 wait ranks=0,1,2,3
  call MPI_Recv(theirs, 4, MPI_DOUBLE_PRECISION, before, 0, MPI_COMM_WORLD, status, error)
  call MPI_Finalize(error)
end program
