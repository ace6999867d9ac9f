! The thread of one number, in a subroutine that all call.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, provided, value
  integer, external :: omp_get_thread_num
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
!$omp parallel
  call exchange(omp_get_thread_num())
!$omp end parallel
  call MPI_Finalize(ierr)
contains
  subroutine exchange(thread)
    integer, intent(in) :: thread
    if (thread == 1) then
      call MPI_Send(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr) !~ CS-THR-01 access
    end if
  end subroutine
end program
