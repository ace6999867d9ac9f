! Ignoring one status and ignoring an array of them are two constants.
program ring
  implicit none
  include 'mpif.h'
  integer :: ierr, requests(1)
  double precision :: mine
  call MPI_Init(ierr)
  requests = MPI_REQUEST_NULL
  mine = 1
  call MPI_Waitall(1, requests, MPI_STATUS_IGNORE, ierr) !~ CS-ARG-01 operation
  call MPI_Finalize(ierr)
end program
