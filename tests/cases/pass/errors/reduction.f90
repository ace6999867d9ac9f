! Bits of integers are combined.
!# np: 2
program reduction
  use mpi
  implicit none
  integer :: error
  integer :: mine, all
  call MPI_Init(error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  mine = 1
  call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_BAND, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (all /= 1) stop 1
end program
