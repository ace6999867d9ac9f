! One datatype for all steps, which is freed.
!# np: 2
!# options: --leaks
program types
  use mpi
  implicit none
  integer :: error, step, column, group, both, none
  call MPI_Init(error)
  call MPI_Type_vector(4, 1, 8, MPI_DOUBLE_PRECISION, column, error)
  call MPI_Type_commit(column, error)
  call MPI_Comm_group(MPI_COMM_WORLD, group, error)
  do step = 1, 3
    call MPI_Group_union(group, group, both, error)
    call MPI_Group_difference(group, both, none, error)
    call MPI_Group_free(both, error)
  end do
  call MPI_Group_free(group, error)
  call MPI_Type_free(column, error)
  call MPI_Finalize(error)
end program types
