! The second thread of a region broadcasts, which is left to the first.
!# flags: -fopenmp
program funneled_fortran
  use mpi_f08
  use omp_lib
  implicit none
  integer :: provided, rank, values(2)
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided) !~ CS-THR-01 operation
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  values = 1
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) then
    call MPI_Bcast(values, 2, MPI_INTEGER, 0, MPI_COMM_WORLD) !~ CS-THR-01 access
  end if
  !$omp end parallel
  call MPI_Finalize()
end program
