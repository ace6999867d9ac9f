! Accumulates with derived datatypes of different elements, and an order that info gives up (use
! mpi).
program mpi_accumulates
  use mpi
  implicit none
  integer :: win
  integer :: info
  integer :: element, pair
  integer :: ierror
  integer :: rank, peer
  integer(kind=MPI_ADDRESS_KIND) :: place
  integer, save, asynchronous :: window(8), out(4)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  peer = 1 - rank
  window = 0
  out = 7
  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, "accumulate_ordering", "none", ierror)
  place = 32
  call MPI_Win_create(window, place, 4, info, MPI_COMM_WORLD, win, ierror)
  call MPI_Info_free(info, ierror)
  element = MPI_INTEGER
  if (rank == 1) element = MPI_LOGICAL
  call MPI_Type_contiguous(2, element, pair, ierror)
  call MPI_Type_commit(pair, ierror)
  call MPI_Win_lock_all(0, win, ierror)
  place = 0
  call MPI_Accumulate(out, 2, MPI_INTEGER, peer, place, 2, MPI_INTEGER, MPI_REPLACE, win, ierror) !~ CS-RMA-04 operation
  call MPI_Accumulate(out, 2, MPI_INTEGER, peer, place, 2, MPI_INTEGER, MPI_SUM, win, ierror) !~ CS-RMA-04 access
  place = 4
  call MPI_Accumulate(out, 1, pair, 0, place, 1, pair, MPI_REPLACE, win, ierror) !~ CS-RMA-04 operation ranks=0 !~ CS-RMA-04 access ranks=0
  call MPI_Win_unlock_all(win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Type_free(pair, ierror)
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
end program
