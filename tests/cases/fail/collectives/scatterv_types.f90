! As many bytes are passed as are expected, but of another type.
!# np: 2
program main
  use mpi
  implicit none
  integer :: rank, error, counts(2) = [4, 4], places(2) = [0, 4]
  real :: all(8) = 1.5
  double precision :: mine(2)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Scatterv(all, counts, places, MPI_REAL, mine, 2, MPI_DOUBLE_PRECISION, 0, &
                    MPI_COMM_WORLD, error) !~ CS-COL-04 access ranks=0,1 !~ CS-COL-04 operation
  call MPI_Finalize(error)
end program
