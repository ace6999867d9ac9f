! Owners read memory that MPI has allocated while others put into it (use mpi_f08, C pointers).
program f08_allocate
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  type(MPI_Win) :: win, win_shared
  integer :: rank, peer
  integer(kind=MPI_ADDRESS_KIND) :: place
  real(8), save, asynchronous :: out(2)
  type(c_ptr) :: window_at, shared_at
  real(8), pointer, asynchronous :: window(:), shared(:)
  real(8) :: got, seen
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  peer = 1 - rank
  out = 7
  place = 64
  call MPI_Win_allocate(place, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window_at, win)
  call c_f_pointer(window_at, window, [8])
  call MPI_Win_allocate_shared(place, 8, MPI_INFO_NULL, MPI_COMM_WORLD, shared_at, win_shared)
  call c_f_pointer(shared_at, shared, [8])
  call MPI_Win_lock_all(0, win)
  call MPI_Win_lock_all(0, win_shared)
  place = 2
  call MPI_Put(out, 2, MPI_DOUBLE_PRECISION, peer, place, 2, MPI_DOUBLE_PRECISION, win) !~ CS-RMA-03 operation
  call MPI_Put(out, 2, MPI_DOUBLE_PRECISION, peer, place, 2, MPI_DOUBLE_PRECISION, win_shared) !~ CS-RMA-03 operation
  call MPI_Win_flush_all(win)
  got = window(3) !~ CS-RMA-03 access
  seen = shared(4) !~ CS-RMA-03 access
  call MPI_Win_unlock_all(win)
  call MPI_Win_unlock_all(win_shared)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_free(win)
  call MPI_Win_free(win_shared)
  call MPI_Finalize()
  print *, got, seen
end program
