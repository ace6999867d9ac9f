! Which rank the second receive names depends on the status of the first.
!# np: 3
program any_fortran
  use mpi
  implicit none
  integer :: rank, ierr, first, second
  integer :: status(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) then
    call MPI_Recv(first, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, ierr)
    call MPI_Recv(second, 1, MPI_INTEGER, 3 - status(MPI_SOURCE), 3, MPI_COMM_WORLD, status, ierr)
    if (first + second /= 3) stop 1
  else
    if (rank == 2) call sleep(1)
    call MPI_Send(rank, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Finalize(ierr)
end program any_fortran
