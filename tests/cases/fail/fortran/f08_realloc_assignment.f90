! Assignment gives an allocatable another shape, and thereby frees the memory being sent.
program f08_realloc_assignment
  use mpi_f08
  implicit none
  integer :: rank, peer, ierr, i
  type(MPI_Request) :: request
  integer, allocatable, asynchronous :: list(:)
  integer :: in(10)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  list = [(i, i = 1, 10)]
  call MPI_Isend(list, 10, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-05 operation
  list = [(i, i = 1, 100000)] !~ CS-BUF-05 release
  call MPI_Recv(in, 10, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  print *, in(10) == 10 .and. size(list) == 100000
  call MPI_Finalize(ierr)
end program
