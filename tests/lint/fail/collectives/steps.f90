! Each rank has its own number of steps.
program main
  implicit none
  include 'mpif.h'
  integer :: rank, ierr, steps, i
  double precision :: x, y
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  x = 1
  steps = 0
  steps = 3 + rank
  do i = 1, steps !~ CS-COL-01 cause possible
    call MPI_Barrier(MPI_COMM_WORLD, ierr) !~ CS-COL-01 access possible
  end do
  call MPI_Finalize(ierr)
end program
