! A `single` region is entered by any thread.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, provided, value
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
!$omp parallel
!$omp master
  call MPI_Send(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr)
!$omp end master
!$omp end parallel
  call MPI_Finalize(ierr)
end program
