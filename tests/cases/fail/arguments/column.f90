! A column is sent by a type that is not committed.
!# mpi: openmpi
program types
  use mpi
  implicit none
  integer :: ierror, rank, column
  double precision :: grid(8, 8)

  call MPI_Init(ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  grid = rank
  call MPI_Type_vector(8, 1, 8, MPI_DOUBLE_PRECISION, column, ierror)
  if (rank == 0) then
    call MPI_Send(grid, 1, column, 1, 0, MPI_COMM_WORLD, ierror) !~ CS-ARG-02 operation ranks=0
  else
    call MPI_Recv(grid, 1, column, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end if
  call MPI_Type_free(column, ierror)
  call MPI_Finalize(ierror)
end program
