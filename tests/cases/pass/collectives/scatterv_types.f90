! What is passed as pairs is expected as twice as many single numbers.
!# np: 2
program main
  use mpi
  implicit none
  integer :: rank, error, pair, counts(2) = [2, 2], places(2) = [0, 2]
  real :: all(8) = 1.5, mine(4)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Type_contiguous(2, MPI_REAL, pair, error)
  call MPI_Type_commit(pair, error)
  call MPI_Scatterv(all, counts, places, pair, mine, 4, MPI_REAL, 0, &
                    MPI_COMM_WORLD, error)
  call MPI_Type_free(pair, error)
  call MPI_Finalize(error)
end program
