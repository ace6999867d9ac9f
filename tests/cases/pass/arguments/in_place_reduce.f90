! Every rank passes what only the root may.
program energies
  use mpi
  implicit none
  integer :: rank, ierr
  double precision :: energy(4), unused(4)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  energy = rank
  unused = 0
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, energy, 4, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  else
    call MPI_Reduce(energy, unused, 4, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Finalize(ierr)
end program
