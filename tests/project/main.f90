program main
  use mpi
  implicit none
  integer :: rank, ierror, request
  integer, asynchronous :: out(4), in(4)
  character(len=16) :: way
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call get_command_argument(1, way)
  out = rank
  call MPI_Irecv(in, 4, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, request, ierror)
  call MPI_Send(out, 4, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, ierror)
  if (way == 'wrong') print *, in(2)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Finalize(ierror)
end program
