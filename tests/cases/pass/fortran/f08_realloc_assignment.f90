! The allocatable gets another shape after the send completed.
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
  call MPI_Isend(list, 10, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Recv(in, 10, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  list = [(i, i = 1, 100000)]
  call MPI_Finalize(ierr)
  if (.not. (in(10) == 10 .and. size(list) == 100000)) stop 1
end program
