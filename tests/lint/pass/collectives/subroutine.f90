! All ranks call the reduction.
program main
  implicit none
  include 'mpif.h'
  integer :: rank, ierr, steps, i
  double precision :: x, y
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  x = 1
  steps = 0
  if (rank == 0) then
    x = 2
  end if
  call MPI_Reduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program
