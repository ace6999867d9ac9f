! Orbitals are sent from one array, which is computed anew for the next step when it was sent.
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
      phi(i) = dble(i + step)
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
    call MPI_Isend(phi, points, MPI_DOUBLE_PRECISION, 1 - rank, step, MPI_COMM_WORLD, request, ierror)
    call MPI_Recv(other, points, MPI_DOUBLE_PRECISION, 1 - rank, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call orbital(phi, step)
  end do
  deallocate(phi, other)
  call MPI_Finalize(ierror)
end program
