! Two threads of each rank wait for messages, one of them for long.
!# np: 2
!# flags: -fopenmp
!# options: --stuck-after 1
program sections
  use mpi
  implicit none
  integer :: rank, provided, ierr, first, second, values(2)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  values = rank
  call MPI_Send(values(1), 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, ierr)
  !$omp parallel sections num_threads(3) private(ierr)
  !$omp section
  call MPI_Recv(first, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  !$omp section
  call MPI_Recv(second, 1, MPI_INTEGER, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  !$omp section
  call sleep(3)
  call MPI_Send(values(2), 1, MPI_INTEGER, 1 - rank, 2, MPI_COMM_WORLD, ierr)
  !$omp end parallel sections
  call MPI_Finalize(ierr)
end program
