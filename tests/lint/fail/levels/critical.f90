! Under `critical` all threads call MPI, one at a time.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, provided, value
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, ierr)
!$omp parallel
  call MPI_Send(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr) !~ CS-THR-02 access
!$omp end parallel
  call MPI_Finalize(ierr)
end program
