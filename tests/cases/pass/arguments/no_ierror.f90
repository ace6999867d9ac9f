! Each call has a variable for the error code, as mpif.h cannot demand.
program steps
  implicit none
  include 'mpif.h'
  integer :: rank, peer, other, total, status(MPI_STATUS_SIZE), ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, peer, 0, other, 1, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, status, ierr)
  call sum(rank + other, total)
  if (total /= 2) stop 1
  call MPI_Finalize(ierr)
contains
  subroutine sum(own, all)
    integer, intent(in) :: own
    integer, intent(out) :: all
    call MPI_Allreduce(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  end subroutine
end program
