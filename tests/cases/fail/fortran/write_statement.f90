! A WRITE statement stores an array that is still being received.
program write_statement
  use mpi
  implicit none
  integer :: rank, peer, request, send, ierr
  real(8), asynchronous :: in(30), out(30)
  real(8) :: copy(30)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  out = 7
  in = 0
  open(unit=20, status='scratch', form='unformatted', access='stream')
  call MPI_Irecv(in, 30, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-02 operation
  call MPI_Isend(out, 30, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, send, ierr)
  write(20) in !~ CS-BUF-02 access
  rewind(20)
  read(20) copy
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(send, MPI_STATUS_IGNORE, ierr)
  close(20)
  print *, copy(30) == 7
  call MPI_Finalize(ierr)
end program
