! A task is run by any thread of the team.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, provided, value
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
!$omp parallel
!$omp master
!$omp task
  call MPI_Send(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr) !~ CS-THR-01 access
!$omp end task
!$omp taskwait
!$omp end master
!$omp end parallel
  call MPI_Finalize(ierr)
end program
