! module mpi_f08: buffers are used before those who have begun are done
program main
  use mpi_f08
  use exchange
  implicit none
  type(halo) :: h
  integer :: rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  h%comm = MPI_COMM_WORLD
  h%out = rank
  call start(h, 1 - rank)
  h%out(5) = 3 !~ CS-BUF-01 access
  print *, h%in(7) !~ CS-BUF-02 access
  call finish(h)
  call MPI_Finalize()
end program
