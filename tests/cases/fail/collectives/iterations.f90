! One rank goes once more round a loop with a reduction.
!# options: --stuck-after 1
program iterations
  use mpi
  implicit none
  integer :: rank, ierror, step, steps
  real :: residual(2)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  residual = 1
  steps = 10 + rank
  do step = 1, steps
    call MPI_Allreduce(MPI_IN_PLACE, residual, 2, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, ierror) !~ CS-COL-06 operation
  end do
  call MPI_Finalize(ierror) !~ CS-COL-06 access func=iterations
end program
