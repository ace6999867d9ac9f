! All ranks go round as often.
program iterations
  use mpi
  implicit none
  integer :: rank, ierror, step, steps
  real :: residual(2)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  residual = 1
  steps = 10 + rank
  call MPI_Allreduce(MPI_IN_PLACE, steps, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
  do step = 1, steps
    call MPI_Allreduce(MPI_IN_PLACE, residual, 2, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, ierror)
  end do
  call MPI_Finalize(ierror)
end program
