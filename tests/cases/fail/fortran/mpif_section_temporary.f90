! A section with a stride is not contiguous: the compiler passes a temporary copy, and frees it
! when MPI_Isend returns (MPI 4.1 §19.1.12).
program section_temporary
  implicit none
  include 'mpif.h'
  integer :: rank, peer, request, n, ierr
  integer :: out(200), in(100)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  out = 7
  n = 99 + max(rank, peer)
  call MPI_Isend(out(1:2 * n:2), n, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-05 operation !~ CS-BUF-05 release
  call MPI_Recv(in, 100, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  print *, in(100) == 7
  call MPI_Finalize(ierr)
end program
