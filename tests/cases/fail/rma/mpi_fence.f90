! Local buffers and window memory are used before the fence (use mpi).
program mpi_fence
  use mpi
  implicit none
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
  call MPI_Win_fence(0, win, ierr)
  place = 0
  call MPI_Put(out, 2, MPI_DOUBLE_PRECISION, peer, place, 2, MPI_DOUBLE_PRECISION, win, ierr) !~ CS-RMA-01 operation !~ CS-RMA-03 operation
  place = 6
  call MPI_Get(in, 2, MPI_DOUBLE_PRECISION, peer, place, 2, MPI_DOUBLE_PRECISION, win, ierr) !~ CS-RMA-02 operation
  out(1) = rank !~ CS-RMA-01 access
  got = in(2) !~ CS-RMA-02 access
  seen = window(2) !~ CS-RMA-03 access
  call MPI_Win_fence(0, win, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_Finalize(ierr)
  print *, got, seen
end program
