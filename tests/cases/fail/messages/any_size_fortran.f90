! A receive from any rank with room for one value may get another rank's table, which comes later
! here.
!# np: 3
program any_size_fortran
  use mpi
  implicit none
  integer :: rank, ierr, value, status(MPI_STATUS_SIZE)
  integer :: table(16)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  table = rank
  if (rank == 0) then
    call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, ierr) !~ CS-MSG-06 access
    if (value /= status(MPI_SOURCE)) stop 1
    call MPI_Recv(table, 16, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, ierr) !~ CS-MSG-06 operation
    if (any(table /= status(MPI_SOURCE))) stop 1
  else if (rank == 1) then
    call MPI_Send(rank, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierr)
  else
    call sleep(1)
    call MPI_Send(table, 16, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierr) !~ CS-MSG-06 operation
  end if
  call MPI_Finalize(ierr)
end program any_size_fortran
