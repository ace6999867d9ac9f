! A READ statement loads the next record into the buffer of a pending send.
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
  call MPI_Isend(record, 16, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-01 operation
  read(21) record !~ CS-BUF-01 access
  call MPI_Recv(in, 16, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  close(21)
  print *, in(16) == 1 .and. record(16) == 2
  call MPI_Finalize(ierr)
end program
