! A nest of loops works on a COMMON block of which one member is received: the last plane reads
! that.
!# np: 2
!# flags: -O2
program nest_beside_halo
  use mpi
  implicit none
  integer, parameter :: n = 12
  double precision :: u, halo, v, own(n), total
  integer :: first
  common /fields/ u(n, n, n), halo(n), v(n, n, n)
  common /bounds/ first(3)
  integer :: ierror, rank, peer, requests(2)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  peer = 1 - rank
  u = 1
  v = 2
  own = rank
  first = 2
  call MPI_Irecv(halo, n, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, requests(1), ierror) !~ CS-BUF-02 operation
  call MPI_Isend(own, n, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, requests(2), ierror)
  call work(total)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call work(total)
  print *, total
  call MPI_Finalize(ierror)
contains
  subroutine work(total)
    double precision, intent(out) :: total
    integer :: i, j, k
    total = 0
    do k = first(3), n
      do j = first(2), n - 1
        do i = first(1), n - 1
          v(i, j, k) = u(i - 1, j, k) + u(i + 1, j, k) - u(i, j - 1, k)
          if (k == n) total = total + halo(i) !~ CS-BUF-02 access
        end do
      end do
    end do
  end subroutine
end program
