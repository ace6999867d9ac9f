! There is no team where the `if` clause says so, and what threads share is passed on all the same.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, provided, steps, i
  integer :: requests(2), value(2)
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  read *, steps
!$omp parallel if(.false.)
!$omp critical
  call MPI_Barrier(MPI_COMM_SELF, ierr)
!$omp end critical
!$omp end parallel
!$omp parallel if(steps > 1)
!$omp master
  do i = 1, 2
    call MPI_Irecv(value(i), 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD, requests(i), ierr)
  end do
!$omp end master
!$omp end parallel
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  print *, value
  call MPI_Finalize(ierr)
end program
