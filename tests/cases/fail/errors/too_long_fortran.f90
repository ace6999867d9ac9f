! Errors are returned, and nobody asks about them: a receive is too short for another rank's
! message.
!# np: 2
program too_long_fortran
  use mpi
  implicit none
  integer :: rank, ierr
  integer :: line(64)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  line = rank
  if (rank == 0) then
    call MPI_Send(line, 60, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, ierr)
  else
    call MPI_Recv(line, 30, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) !~ CS-ERR-03 operation ranks=1
  end if
  call MPI_Finalize(ierr)
end program too_long_fortran
