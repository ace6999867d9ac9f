! A rank reads its neighbour's part, which a C pointer leads to, without waiting for it.
!# np: 2
program main
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: ierr, rank, win, unit
  integer(MPI_ADDRESS_KIND) :: bytes
  type(c_ptr) :: mine_at, theirs_at
  double precision, pointer :: mine(:), theirs(:)
  double precision :: seen

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  bytes = 8 * 10
  call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, mine_at, win, ierr)
  call MPI_Win_shared_query(win, 1 - rank, bytes, unit, theirs_at, ierr)
  call c_f_pointer(mine_at, mine, [10])
  call c_f_pointer(theirs_at, theirs, [10])

  call MPI_Win_fence(0, win, ierr)
  mine(4) = rank !~ CS-RMA-06 operation
  seen = theirs(4) !~ CS-RMA-06 access
  call MPI_Win_fence(0, win, ierr)

  call MPI_Win_free(win, ierr)
  call MPI_Finalize(ierr)
  print *, seen
end program main
