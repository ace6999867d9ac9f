! A grid code sends the boundary of each state from one module array, each send being
! completed before the next state is packed.
module boundary
  use mpi
  implicit none
  integer, parameter :: points = 24, states = 3
  real(8), asynchronous, save :: packed(points)
  integer, save :: request = MPI_REQUEST_NULL
contains
  subroutine pack_state(psi)
    real(8), intent(in) :: psi(:)
    integer :: i
    do i = 1, points
      packed(i) = psi(i)
    end do
  end subroutine

  subroutine send_state(psi, to, tag)
    real(8), intent(in) :: psi(:)
    integer, intent(in) :: to, tag
    integer :: ierr
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call pack_state(psi)
    call start(to, tag, request)
  end subroutine

  subroutine start(to, tag, started)
    integer, intent(in) :: to, tag
    integer, intent(out) :: started
    integer :: ierr
    call MPI_Isend(packed, points, MPI_DOUBLE_PRECISION, to, tag, MPI_COMM_WORLD, started, ierr)
  end subroutine
end module

program module_repack
  use mpi
  use boundary
  implicit none
  integer :: rank, peer, state, ierr, incoming(states)
  real(8) :: psi(2 * points), halo(points, states), sum
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  sum = 0
  do state = 1, states
    call MPI_Irecv(halo(:, state), points, MPI_DOUBLE_PRECISION, peer, state, MPI_COMM_WORLD, incoming(state), ierr)
  end do
  do state = 1, states
    psi = state
    call send_state(psi(1:points), peer, state)
  end do
  do state = 1, states
    call MPI_Wait(incoming(state), MPI_STATUS_IGNORE, ierr)
    sum = sum + halo(points, state)
  end do
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
  if (.not. (sum == 6)) stop 1
end program
