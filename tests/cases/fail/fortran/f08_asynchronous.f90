! ASYNCHRONOUS keeps the compiler from moving code; it does not complete the receive.
program f08_asynchronous
  use mpi_f08
  implicit none
  integer, parameter :: n = 16
  integer :: rank, peer, ierr
  type(MPI_Request) :: requests(4)
  real(8), asynchronous :: u(0:n + 1)
  real(8) :: next(n)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  u = rank
  call MPI_Irecv(u(0), 1, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, requests(1)) !~ CS-BUF-02 operation
  call MPI_Irecv(u(n + 1), 1, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, requests(2)) !~ CS-BUF-02 operation
  call MPI_Isend(u(n), 1, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, requests(3))
  call MPI_Isend(u(1), 1, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, requests(4))
  call average(u, next, 1, n)
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
  u(1:n) = next
  call check(u(1) >= 0)
  call MPI_Finalize()
contains
  subroutine average(from, to, first, last)
    integer, intent(in) :: first, last
    real(8), intent(in), asynchronous :: from(0:n + 1)
    real(8), intent(inout) :: to(n)
    integer :: i
    do i = first, last
      to(i) = 0.5d0 * from(i - 1) + 0.5d0 * from(i + 1) !~ CS-BUF-02 access
    end do
  end subroutine

  subroutine check(good)
    logical, intent(in) :: good
    if (.not. good) stop 1
  end subroutine
end program
