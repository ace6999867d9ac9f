! Orbitals are sent from one array, which is computed anew for the next step though nothing says
! that it was sent.
!# hooks: none
!# options: --guards
module states
  implicit none
  integer, parameter :: points = 40000
contains
  subroutine orbital(phi, step)
    real(8), intent(out) :: phi(:)
    integer, intent(in) :: step
    integer :: i
    do i = 1, size(phi)
      phi(i) = dble(i + step) !~ CS-BUF-01 access
    end do
  end subroutine
end module

program octopus
  use mpi
  use states
  implicit none
  integer :: rank, step, ierror, request
  real(8), allocatable :: phi(:), other(:)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  allocate(phi(points), other(points))
  call orbital(phi, 0)
  do step = 1, 3
    call MPI_Isend(phi, points, MPI_DOUBLE_PRECISION, 1 - rank, step, MPI_COMM_WORLD, request, ierror) !~ CS-BUF-01 operation !~ CS-REQ-02 operation !~ CS-REQ-02 overwrite !~ CS-REQ-01 operation
    call MPI_Recv(other, points, MPI_DOUBLE_PRECISION, 1 - rank, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call orbital(phi, step)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program
