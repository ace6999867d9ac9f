! A new datatype for each step; only the last one is freed.
!# np: 2
!# options: --leaks
program types
  use mpi
  implicit none
  integer :: error, step, column
  call MPI_Init(error)
  do step = 1, 3
    call MPI_Type_vector(4, 1, 8, MPI_DOUBLE_PRECISION, column, error) !~ CS-OBJ-01 operation
    call MPI_Type_commit(column, error)
  end do
  call MPI_Type_free(column, error)
  call MPI_Finalize(error)
end program types
