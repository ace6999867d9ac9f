! Rank 0 says how many steps there are.
program main
  implicit none
  include 'mpif.h'
  integer :: rank, ierr, steps, i
  double precision :: x, y
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  x = 1
  steps = 0
  if (rank == 0) steps = 3
  call MPI_Bcast(steps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  do i = 1, steps
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
end program
