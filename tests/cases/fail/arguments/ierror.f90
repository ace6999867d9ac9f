! The error code is stored in what is no variable. An argument that is missing looks the same to the
! library.
program steps
  implicit none
  include 'mpif.h'
  integer :: ierr
  call MPI_Init(ierr)
  call MPI_Barrier(MPI_COMM_WORLD, 7) !~ CS-ARG-01 operation
  call MPI_Finalize(ierr)
end program
