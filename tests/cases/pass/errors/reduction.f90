! A predefined reduction of as many elements of a predefined datatype.
!# np: 2
program reduction
  use mpi
  implicit none
  integer :: error, pair
  integer :: mine(2), all(2)
  call MPI_Init(error)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, error)
  call MPI_Type_commit(pair, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  mine = 1
  call MPI_Allreduce(mine, all, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Type_free(pair, error)
  call MPI_Finalize(error)
  if (any(all /= 2)) stop 1
end program
