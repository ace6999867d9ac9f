! The iterations of a worksharing loop run in all threads.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, provided, value
  integer :: i
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, ierr)
!$omp parallel do
  do i = 1, 8
!$omp critical
    call MPI_Send(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr)
!$omp end critical
  end do
!$omp end parallel do
  call MPI_Finalize(ierr)
end program
