! A contiguous section is passed without a copy: its neighbours may be used meanwhile.
program contiguous_section
  use mpi
  implicit none
  integer :: rank, peer, requests(2), ierr
  integer, asynchronous :: field(6, 6)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  field = rank
  call MPI_Irecv(field(:, 6), 6, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(field(2:4, 2), 3, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, requests(2), ierr)
  field(1, 2) = -1
  field(5, 2) = -1
  field(:, 3:5) = field(:, 3:5) + field(3, 2)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Finalize(ierr)
  if (.not. (field(3, 6) == peer .and. field(3, 3) == 2 * rank)) stop 1
end program
