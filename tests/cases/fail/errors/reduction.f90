! Bits of reals are combined, over which MPI ends the program.
!# np: 2
program reduction
  use mpi
  implicit none
  integer :: error
  real(8) :: mine, all
  call MPI_Init(error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  mine = 1
  call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_BAND, MPI_COMM_WORLD, error) !~ CS-ERR-01 operation
  call MPI_Finalize(error)
end program
