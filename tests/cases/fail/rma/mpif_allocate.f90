! Owners read memory that MPI has allocated while others put into it (include 'mpif.h', Cray
! pointers).
!# flags: -fcray-pointer
program mpif_allocate
  implicit none
  include 'mpif.h'
  integer :: win, win_shared
  integer :: ierr
  integer :: rank, peer
  integer(kind=MPI_ADDRESS_KIND) :: place
  real(8), save, asynchronous :: out(2)
  real(8) :: window(8), shared(8)
  pointer (window_at, window)
  pointer (shared_at, shared)
  real(8) :: got, seen
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  out = 7
  place = 64
  call MPI_Win_allocate(place, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window_at, win, ierr)
  call MPI_Win_allocate_shared(place, 8, MPI_INFO_NULL, MPI_COMM_WORLD, shared_at, win_shared, ierr)
  call MPI_Win_lock_all(0, win, ierr)
  call MPI_Win_lock_all(0, win_shared, ierr)
  place = 2
  call MPI_Put(out, 2, MPI_DOUBLE_PRECISION, peer, place, 2, MPI_DOUBLE_PRECISION, win, ierr) !~ CS-RMA-03 operation
  call MPI_Put(out, 2, MPI_DOUBLE_PRECISION, peer, place, 2, MPI_DOUBLE_PRECISION, win_shared, ierr) !~ CS-RMA-03 operation
  call MPI_Win_flush_all(win, ierr)
  got = window(3) !~ CS-RMA-03 access
  seen = shared(4) !~ CS-RMA-03 access
  call MPI_Win_unlock_all(win, ierr)
  call MPI_Win_unlock_all(win_shared, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_Win_free(win_shared, ierr)
  call MPI_Finalize(ierr)
  print *, got, seen
end program
