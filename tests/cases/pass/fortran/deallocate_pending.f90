! An allocatable array is deallocated after it was sent.
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
  call MPI_Isend(out, 300, MPI_REAL, peer, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Recv(in, 300, MPI_REAL, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  deallocate(out)
  call MPI_Finalize(ierr)
  if (.not. (in(300) == 7)) stop 1
end program
