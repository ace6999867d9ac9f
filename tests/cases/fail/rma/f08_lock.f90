! Local buffers and window memory are used before the unlock (use mpi_f08).
program f08_lock
  use mpi_f08
  implicit none
  type(MPI_Win) :: win
  integer :: rank, peer
  integer(kind=MPI_ADDRESS_KIND) :: place
  real(8), save, asynchronous :: window(8), out(2), in(2)
  real(8) :: got, seen
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  peer = 1 - rank
  window = 1
  out = 7
  place = 64
  call MPI_Win_create(window, place, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win)
  place = 0
  call MPI_Put(out, 2, MPI_REAL8, peer, place, 2, MPI_REAL8, win) !~ CS-RMA-01 operation !~ CS-RMA-03 operation
  place = 6
  call MPI_Get(in, 2, MPI_REAL8, peer, place, 2, MPI_REAL8, win) !~ CS-RMA-02 operation
  out(1) = rank !~ CS-RMA-01 access
  got = in(2) !~ CS-RMA-02 access
  seen = window(2) !~ CS-RMA-03 access
  call MPI_Win_unlock(peer, win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_free(win)
  call MPI_Finalize()
  print *, got, seen
end program
