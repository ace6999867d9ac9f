! module mpi_f08: buffers are used when those who have begun are done
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
  call finish(h)
  h%out(5) = 3
  print *, h%in(7)
  call MPI_Finalize()
end program
