! A whole-array assignment overwrites the buffer of a pending send.
program assign_send
  implicit none
  include 'mpif.h'
  integer :: rank, peer, request, ierr
  real(8) :: out(100), in(100)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  out = 7
  call MPI_Isend(out, 100, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-01 operation
  out = rank !~ CS-BUF-01 access
  call MPI_Recv(in, 100, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  print *, in(100) == 7 .and. out(1) == rank
  call MPI_Finalize(ierr)
end program
