! Each rank sends before it waits for the message. All arguments of MPI_Wait are
! variables, of which the library's module declares some `intent(out)`.
!# np: 2
program wait_line
  use mpi
  implicit none
  integer :: rank, request, error
  real(8), asynchronous :: theirs(4)
  real(8) :: mine(4)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  mine = rank
  call MPI_Irecv(theirs, 4, MPI_DOUBLE_PRECISION, 1 - rank, 0, MPI_COMM_WORLD, request, error)
  call MPI_Send(mine, 4, MPI_DOUBLE_PRECISION, 1 - rank, 0, MPI_COMM_WORLD, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Finalize(error)
end program
