! A subroutine reads what its caller has received.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, peer
  integer :: request
  double precision :: values(16)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  call MPI_Irecv(values, 16, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call show(values)
  call MPI_Finalize(ierr)
end program

subroutine show(array)
  implicit none
  double precision :: array(*)
  print *, array(2)
end subroutine
