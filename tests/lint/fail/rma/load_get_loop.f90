! Each iteration reads what the one before it is still getting.
program main
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, peer
  integer :: win, window(8), local(8), i, total
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  bytes = 32
  place = 0
  call MPI_Win_create(window, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  total = 0
  do i = 1, 8
    total = total + local(1) !~ CS-RMA-02 access
    call MPI_Get(local(1), 1, MPI_INTEGER, peer, place, 1, MPI_INTEGER, win, ierr) !~ CS-RMA-02 operation !~ CS-BUF-04 operation !~ CS-BUF-04 access
  end do
  print *, total
  call MPI_Win_fence(0, win, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_Finalize(ierr)
end program
