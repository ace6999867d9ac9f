! One thread at a time calls MPI: in single constructs, critical sections and tasks.
!# flags: -fopenmp
program regions
  use mpi_f08
  use omp_lib
  implicit none
  integer :: provided, rank, i, sum, values(8)
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  sum = 0
  !$omp parallel num_threads(3) private(i)
  do i = 1, 4
    !$omp single
    call MPI_Allreduce(i, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    !$omp end single
  end do
  !$omp single
  do i = 1, 4
    !$omp task firstprivate(i)
    call MPI_Sendrecv(i, 1, MPI_INTEGER, rank, i, values(i), 1, MPI_INTEGER, rank, i, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    !$omp end task
    !$omp taskwait
  end do
  !$omp end single
  !$omp critical
  call MPI_Send(rank, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
  !$omp end critical
  !$omp end parallel
  if (sum /= 8 .or. values(4) /= 4) stop 1
  call MPI_Finalize()
end program
