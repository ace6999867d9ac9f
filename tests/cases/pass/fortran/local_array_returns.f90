! A subroutine completes the send of its local array.
module announcing
  use mpi
  implicit none
contains
  subroutine announce(value, peer, request)
    integer, intent(in) :: value, peer
    integer, intent(out) :: request
    integer :: ierr
    integer, asynchronous :: local(20)
    local = value
    call MPI_Isend(local, 20, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end subroutine
end module

program local_array_returns
  use mpi
  use announcing
  implicit none
  integer :: rank, peer, request, incoming, ierr
  integer, asynchronous :: in(20)
  procedure(announce), pointer :: call_it
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  call MPI_Irecv(in, 20, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, incoming, ierr)
  call_it => announce
  call call_it(7, peer, request)
  call MPI_Wait(incoming, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
  if (.not. (in(20) == 7)) stop 1
end program
