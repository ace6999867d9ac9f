! A row is sent by a committed type that is made of others, and received by a duplicate.
program types
  use mpi
  implicit none
  integer :: ierror, rank, row, cell, twin, requests(2)
  integer(kind=MPI_ADDRESS_KIND) :: start, extent
  double precision :: grid(8, 8)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  grid = rank
  start = 0
  extent = 64
  call MPI_Type_create_resized(MPI_DOUBLE_PRECISION, start, extent, cell, ierror)
  call MPI_Type_contiguous(8, cell, row, ierror)
  call MPI_Type_commit(row, ierror)
  call MPI_Type_dup(row, twin, ierror)
  call MPI_Irecv(grid(1, 1), 1, twin, 1 - rank, 0, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Isend(grid(2, 1), 1, row, 1 - rank, 0, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call MPI_Type_free(cell, ierror)
  call MPI_Type_free(row, ierror)
  call MPI_Type_free(twin, ierror)
  print *, grid(1, 1)
  call MPI_Finalize(ierror)
end program
