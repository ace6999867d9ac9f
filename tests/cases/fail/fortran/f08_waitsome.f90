! MPI_Waitsome names what has arrived, but the blocks are read in the order of posting.
!# np: 3
program f08_waitsome
  use mpi_f08
  implicit none
  integer :: rank, ierr, left, n, i, sum, which(2)
  type(MPI_Request) :: requests(2)
  integer, asynchronous :: blocks(4, 2)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  blocks = rank
  sum = 0
  if (rank == 0) then
    do i = 1, 2
      call MPI_Irecv(blocks(:, i), 4, MPI_INTEGER, i, 0, MPI_COMM_WORLD, requests(i)) !~ CS-BUF-02 operation ranks=0
    end do
    left = 2
    do while (left > 0)
      call MPI_Waitsome(2, requests, n, which, MPI_STATUSES_IGNORE)
      call MPI_F_SYNC_REG(blocks)
      do i = 1, n
        sum = sum + blocks(4, 3 - left) !~ CS-BUF-02 access ranks=0
        left = left - 1
      end do
      if (left == 1) call MPI_Send(n, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD)
    end do
  else
    if (rank == 1) call MPI_Recv(n, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Send(blocks(:, 1), 4, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
  end if
  print *, sum
  call MPI_Finalize(ierr)
end program
