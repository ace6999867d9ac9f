! All who make a communicator have come to it when one has got it (use mpi).
program mpi_constructors
  use mpi
  implicit none
  integer :: win
  integer :: comm
  integer :: ierr
  integer :: rank, peer, kind
  integer(kind=MPI_ADDRESS_KIND) :: place
  integer, save, asynchronous :: window(4), out
  logical :: right
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  right = .true.
  place = 16
  call MPI_Win_create(window, place, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  do kind = 1, 3
    out = 10 + kind
    place = kind
    call MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win, ierr)
    call MPI_Put(out, 1, MPI_INTEGER, peer, place, 1, MPI_INTEGER, win, ierr)
    call MPI_Win_unlock(peer, win, ierr)
    select case (kind)
    case (1)
      call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, comm, ierr)
    case (2)
      call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    case (3)
      call MPI_Cart_create(MPI_COMM_WORLD, 1, [2], [.true.], .false., comm, ierr)
    end select
    call MPI_Comm_free(comm, ierr)
    right = right .and. window(kind + 1) == 10 + kind
  end do
  call MPI_Win_free(win, ierr)
  call MPI_Finalize(ierr)
  if (.not. right) stop 1
end program
