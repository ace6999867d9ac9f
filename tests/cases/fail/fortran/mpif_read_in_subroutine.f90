! A subroutine sums an assumed-size argument that is still being received.
subroutine total(n, values, sum)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: values(*)
  real(8), intent(out) :: sum
  integer :: i
  sum = 0
  do i = 1, n
    sum = sum + values(i) !~ CS-BUF-02 access
  end do
end subroutine

program read_in_subroutine
  implicit none
  include 'mpif.h'
  integer :: rank, peer, request, ierr
  real(8) :: out(50), in(50), sum
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  out = 2
  in = 0
  call MPI_IRECV(in, 50, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierr) !~ CS-BUF-02 operation
  call MPI_SEND(out, 50, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, ierr)
  call total(50, in, sum)
  call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
  print *, sum == 100
  call MPI_Finalize(ierr)
end program
