! MPI_Waitany names what has arrived, but the blocks are read in the order of posting.
!# np: 3
module storage
  implicit none
  integer, asynchronous, save :: blocks(4, 2), sum(1)
end module

program waitany_wrong_block
  use mpi
  use storage
  implicit none
  integer :: rank, ierr, round, i, requests(2)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  blocks = rank
  sum = 0
  if (rank == 0) then
    do i = 1, 2
      call MPI_Irecv(blocks(:, i), 4, MPI_INTEGER, i, 0, MPI_COMM_WORLD, requests(i), ierr) !~ CS-BUF-02 operation ranks=0
    end do
    do round = 1, 2
      call MPI_Waitany(2, requests, i, MPI_STATUS_IGNORE, ierr)
      sum(1) = sum(1) + blocks(4, round) !~ CS-BUF-02 access ranks=0
      if (round == 1) call MPI_Send(sum, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierr)
    end do
  else
    if (rank == 1) call MPI_Recv(sum, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Send(blocks(:, 1), 4, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierr)
  end if
  print *, sum
  call MPI_Finalize(ierr)
end program
