! MPI_BOTTOM, MPI_IN_PLACE and the ignored statuses are addresses with a meaning, not buffers.
program sentinels
  implicit none
  include 'mpif.h'
  integer :: rank, peer, request, ierr, message, lengths(1), types(1)
  integer :: counts(4), out(4)
  integer(MPI_ADDRESS_KIND) :: addresses(1)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  counts = 1
  out = 0
  call MPI_IALLREDUCE(MPI_IN_PLACE, counts, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
  call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
  call MPI_GET_ADDRESS(out, addresses(1), ierr)
  lengths(1) = 4
  types(1) = MPI_INTEGER
  call MPI_TYPE_CREATE_STRUCT(1, lengths, addresses, types, message, ierr)
  call MPI_TYPE_COMMIT(message, ierr)
  call MPI_IRECV(MPI_BOTTOM, 1, message, peer, 0, MPI_COMM_WORLD, request, ierr)
  counts(1) = counts(1) + 1
  call MPI_SEND(counts, 4, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, ierr)
  call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
  call MPI_TYPE_FREE(message, ierr)
  call settle(out)
  call MPI_Finalize(ierr)
  if (.not. (out(1) == 3 .and. out(4) == 2)) stop 1
end program

subroutine settle(values)
  integer, intent(inout) :: values(*)
  values(1) = values(1)
end subroutine
