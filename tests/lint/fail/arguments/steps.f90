! Constants in Fortran, whose arguments are addresses.
program steps
  implicit none
  include 'mpif.h'
  integer :: rank, ierror
  integer :: values(4)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  values = rank
  call MPI_Bcast(values, -4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror) !~ CS-ARG-01 operation
  call MPI_Bcast(values, 4, MPI_INTEGER, -9, MPI_COMM_WORLD, ierror) !~ CS-ARG-01 operation
  call MPI_Send(values, 4, MPI_INTEGER, 0, -3, MPI_COMM_WORLD, ierror) !~ CS-ARG-01 operation
  call MPI_Finalize(ierror)
end program steps
