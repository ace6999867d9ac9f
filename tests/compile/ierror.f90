! Calls of MPI's procedures, two of them without the argument for the error code.
program calls
  implicit none
  integer :: code, value
  external :: mpi_barrier, mpi_bcast, mpi_finalize, expect
  value = 1
  call mpi_barrier(0, code)
  call mpi_bcast(value, 1, 2, 0, 3)
  call mpi_finalize
  call expect(value, code)
end program
