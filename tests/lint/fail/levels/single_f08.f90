! module mpi_f08: two threads of one team send at once, after `nowait`
program single_f08
  use mpi_f08
  implicit none
  integer :: provided, out(8), in(8)
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  out = 1
  !$omp parallel
  !$omp single
  call MPI_Send(out, 8, MPI_INTEGER, 1, 0, MPI_COMM_WORLD) !~ CS-THR-02 access
  !$omp end single nowait
  !$omp single
  call MPI_Recv(in, 8, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !~ CS-THR-02 operation
  !$omp end single
  !$omp end parallel
  print *, in(1)
  call MPI_Finalize()
end program
