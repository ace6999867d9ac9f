! One section communicates, or two.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, provided, value
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, ierr)
!$omp parallel
!$omp sections
!$omp section
  call MPI_Send(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr) !~ CS-THR-02 access
!$omp section
  call MPI_Recv(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) !~ CS-THR-02 operation
!$omp end sections
!$omp end parallel
  call MPI_Finalize(ierr)
contains
  subroutine work(on)
    integer :: on
    on = on + 1
  end subroutine
end program
