! The result of an in-place reduction scales the residual before it is complete.
program f08_iallreduce_in_place
  use mpi_f08
  implicit none
  integer :: rank, peer
  type(MPI_Request) :: request
  real(8), asynchronous :: norm(2)
  real(8) :: residual(20)
  integer :: ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  residual = 8
  norm = 2
  call MPI_Iallreduce(MPI_IN_PLACE, norm, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request) !~ CS-BUF-02 operation
  residual = residual / norm(2) !~ CS-BUF-02 access
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  print *, residual(20) == 2
  call MPI_Finalize(ierr)
end program
