! One rank sums up, the other looks for the largest.
!# options: --stuck-after 1
program operation
  use mpi
  implicit none
  integer :: rank, ierror, op
  double precision :: mine, all
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  mine = rank + 1
  op = MPI_SUM
  if (rank == 1) op = MPI_MAX
  if (rank == 0) then
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierror) !~ CS-COL-03 operation
  else
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierror) !~ CS-COL-03 access
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program
