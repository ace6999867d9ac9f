! A rank that sends before it enters a reduction, to the root, which receives after it.
!# np: 2
!# options: --stuck-after 1 --strict-collectives
program main
  use mpi
  implicit none
  integer :: rank, error, part, total, note
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  part = rank
  if (rank == 0) then
    call MPI_Recv(note, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) !~ CS-DLK-01 wait ranks=0,1
    call MPI_Reduce(part, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  else
    note = 5
    call MPI_Reduce(part, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error) !~ CS-DLK-01 wait
    call MPI_Send(note, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, error)
  end if
  call MPI_Finalize(error)
end program
