! An allocatable array is deallocated while it is being sent.
program deallocate_pending
  use mpi
  implicit none
  integer :: rank, peer, request, ierr
  real, allocatable, asynchronous :: out(:)
  real :: in(300)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  allocate(out(300))
  out = 7
  call MPI_Isend(out, 300, MPI_REAL, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-05 operation
  deallocate(out) !~ CS-BUF-05 release
  call MPI_Recv(in, 300, MPI_REAL, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  print *, in(300) == 7
  call MPI_Finalize(ierr)
end program
