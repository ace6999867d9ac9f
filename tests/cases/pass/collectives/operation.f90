! Both ranks look for the largest: one of a sum and of a maximum at a time.
program operation
  use mpi
  implicit none
  integer :: rank, ierror, op
  double precision :: mine, all
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  mine = rank + 1
  op = MPI_MAX
  if (rank == 0) then
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierror)
  else
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierror)
  end if
  if (all /= 2) stop 1
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program
