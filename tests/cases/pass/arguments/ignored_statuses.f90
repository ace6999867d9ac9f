! Ignoring one status and ignoring an array of them are two constants.
program ring
  implicit none
  include 'mpif.h'
  integer :: ierr, requests(1)
  double precision :: mine
  call MPI_Init(ierr)
  requests = MPI_REQUEST_NULL
  mine = 1
  call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Finalize(ierr)
end program
