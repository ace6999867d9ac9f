! Local buffers and window memory are used after the unlock and a barrier (mpif.h).
program mpif_lock
  implicit none
  include 'mpif.h'
  integer :: rank, peer, win, ierr
  integer(kind=MPI_ADDRESS_KIND) :: place
  real(8), save, asynchronous :: window(8), out(2), in(2)
  real(8) :: got, seen
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  window = 1
  out = 7
  place = 64
  call MPI_Win_create(window, place, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win, ierr)
  place = 0
  call MPI_Put(out, 2, MPI_DOUBLE_PRECISION, peer, place, 2, MPI_DOUBLE_PRECISION, win, ierr)
  place = 6
  call MPI_Get(in, 2, MPI_DOUBLE_PRECISION, peer, place, 2, MPI_DOUBLE_PRECISION, win, ierr)
  call MPI_Win_unlock(peer, win, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  out(1) = rank
  got = in(2)
  seen = window(2)
  call MPI_Win_free(win, ierr)
  call MPI_Finalize(ierr)
  if (out(1) /= rank .or. got /= 1 .or. seen /= 7) stop 1
end program
