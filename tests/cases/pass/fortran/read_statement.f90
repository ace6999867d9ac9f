! A READ statement loads the next record after the send of the last one completed.
program read_statement
  use mpi
  implicit none
  integer :: rank, peer, request, ierr
  integer, asynchronous :: record(16)
  integer :: in(16)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  open(unit=21, status='scratch', form='unformatted')
  record = 1
  write(21) record
  record = 2
  write(21) record
  rewind(21)
  read(21) record
  call MPI_Isend(record, 16, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Recv(in, 16, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  read(21) record
  close(21)
  call MPI_Finalize(ierr)
  if (.not. (in(16) == 1 .and. record(16) == 2)) stop 1
end program
