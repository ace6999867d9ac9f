! A variable of a procedure that another one contains.
program outer
  implicit none
  include 'mpif.h'
  integer :: ierr
  call MPI_Init(ierr)
  call inner()
  call MPI_Finalize(ierr)
contains
  subroutine inner()
    double precision :: line(6)
    integer :: ierr
    line = 2
    call MPI_Bcast(line, 7, MPI_DOUBLE_PRECISION, 0, MPI_COMM_SELF, ierr) !~ CS-BUF-07 operation
    print *, line(1)
  end subroutine
end program
