! Only mpi_f08 lets calls omit the error code.
program steps
  implicit none
  include 'mpif.h'
  integer :: ierr
  double precision :: x(4)
  call MPI_Init(ierr)
  x = 1
  call MPI_Bcast(x, 4, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD) !~ CS-ARG-01 operation
  print *, x(1)
  call MPI_Finalize(ierr)
end program
