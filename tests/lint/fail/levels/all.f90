! All threads enter a collective of one communicator.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, provided, value
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
!$omp parallel
  call MPI_Barrier(MPI_COMM_WORLD, ierr) !~ CS-THR-04 access
!$omp end parallel
  call MPI_Finalize(ierr)
end program
