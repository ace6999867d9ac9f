! A receive from anybody before one that names its source, with statuses that nobody looks at.
!# np: 3
program any_fortran
  use mpi
  implicit none
  integer :: rank, ierr, first, second
  integer :: status(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) then
    call MPI_Recv(first, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, ierr) !~ CS-MSG-03 operation
    call MPI_Recv(second, 1, MPI_INTEGER, 2, 3, MPI_COMM_WORLD, status, ierr) !~ CS-MSG-03 access
    if (first + second /= 3) stop 1
  else
    if (rank == 2) call sleep(1)
    call MPI_Send(rank, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierr) !~ CS-MSG-03 operation
  end if
  call MPI_Finalize(ierr)
end program any_fortran
