! A thread writes to the buffer of a put of another one after a barrier.
!# flags: -fopenmp
program main
  use mpi
  use omp_lib
  implicit none
  integer :: provided, rank, peer, win, ierr
  integer, target, save :: window(4), out(4)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  bytes = 16
  at = 0
  out = 7
  call MPI_Win_create(window, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_lock_all(0, win, ierr)
!$omp parallel num_threads(2) private(ierr)
  if (omp_get_thread_num() == 0) then
    call MPI_Put(out, 4, MPI_INTEGER, peer, at, 4, MPI_INTEGER, win, ierr)
    call MPI_Win_flush(peer, win, ierr)
  end if
!$omp barrier
  if (omp_get_thread_num() == 1) then
    out(2) = 8
  end if
!$omp end parallel
  call MPI_Win_unlock_all(win, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_Finalize(ierr)
end program main
