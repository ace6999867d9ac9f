! No variable for the error code: mpif.h has no interfaces by which a compiler could object.
program steps
  implicit none
  include 'mpif.h'
  integer :: rank, peer, other, total, status(MPI_STATUS_SIZE)
  call MPI_Init() !~ CS-ARG-01 operation
  call MPI_Comm_rank(MPI_COMM_WORLD, rank) !~ CS-ARG-01 operation
  peer = 1 - rank
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, peer, 0, other, 1, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, status) !~ CS-ARG-01 operation
  call sum(rank + other, total)
  if (total /= 2) stop 1
  call MPI_Finalize() !~ CS-ARG-01 operation
contains
  subroutine sum(own, all)
    integer, intent(in) :: own
    integer, intent(out) :: all
    call MPI_Allreduce(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD) !~ CS-ARG-01 operation
  end subroutine
end program
