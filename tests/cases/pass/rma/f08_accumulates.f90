! Accumulates with derived datatypes of the same elements, and an order that info keeps (use
! mpi_f08).
program f08_accumulates
  use mpi_f08
  implicit none
  type(MPI_Win) :: win
  type(MPI_Info) :: info
  type(MPI_Datatype) :: element, pair
  integer :: rank, peer
  integer(kind=MPI_ADDRESS_KIND) :: place
  integer, save, asynchronous :: window(8), out(4)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  peer = 1 - rank
  window = 0
  out = 7
  call MPI_Info_create(info)
  call MPI_Info_set(info, "accumulate_ordering", "raw,waw")
  place = 32
  call MPI_Win_create(window, place, 4, info, MPI_COMM_WORLD, win)
  call MPI_Info_free(info)
  element = MPI_INTEGER
  call MPI_Type_contiguous(2, element, pair)
  call MPI_Type_commit(pair)
  call MPI_Win_lock_all(0, win)
  place = 0
  call MPI_Accumulate(out, 2, MPI_INTEGER, peer, place, 2, MPI_INTEGER, MPI_REPLACE, win)
  call MPI_Accumulate(out, 2, MPI_INTEGER, peer, place, 2, MPI_INTEGER, MPI_SUM, win)
  place = 4
  call MPI_Accumulate(out, 1, pair, 0, place, 1, pair, MPI_REPLACE, win)
  call MPI_Win_unlock_all(win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Type_free(pair)
  call MPI_Win_free(win)
  call MPI_Finalize()
  if (window(1) /= 14 .or. window(2) /= 14) stop 1
  if (rank == 0 .and. window(6) /= 7) stop 1
end program
