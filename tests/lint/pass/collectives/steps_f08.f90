! module mpi_f08: handles that are compared, keywords, communicators of their own
program steps_f08
  use mpi_f08
  implicit none
  integer :: rank, total, half_rank
  type(MPI_Comm) :: half, all = MPI_COMM_WORLD
  call MPI_Init()
  call MPI_Comm_rank(all, rank)
  call MPI_Comm_split(comm=all, color=merge(0, MPI_UNDEFINED, rank < 2), key=rank, newcomm=half)
  if (half /= MPI_COMM_NULL) then
    call MPI_Comm_rank(half, half_rank)
    call MPI_Barrier(half)
    call MPI_Comm_free(half)
  end if
  call MPI_Barrier(all)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) then
    print *, total
    call MPI_Bcast(buffer=total, count=1, datatype=MPI_INTEGER, root=0, comm=MPI_COMM_WORLD)
  else
    call MPI_Bcast(buffer=total, count=1, datatype=MPI_INTEGER, root=0, comm=MPI_COMM_WORLD)
  end if
  print *, total
  call MPI_Finalize()
end program
