! The first thread of a region broadcasts.
!# flags: -fopenmp
program funneled_fortran
  use mpi_f08
  use omp_lib
  implicit none
  integer :: provided, rank, values(2)
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  values = 1
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) then
    call MPI_Bcast(values, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
  end if
  !$omp end parallel
  call MPI_Finalize()
end program
