! A nest of loops scatters through an index while nothing is pending, and into the column that is
! not sent.
program scattered_in_loop
  use mpi
  implicit none
  integer, parameter :: cells = 500
  double precision, allocatable :: field(:, :)
  integer :: place(cells), i, step, rank, peer, request, ierror
  double precision :: other(cells)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  peer = 1 - rank
  allocate (field(cells, 2))
  do i = 1, cells
    place(i) = mod(i * 7, cells) + 1
  end do
  call scatter(field, place, 1)
  call MPI_Isend(field(:, 2), cells, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, request, ierror)
  do step = 1, 1
    call scatter(field, place, step)
  end do
  call MPI_Recv(other, cells, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  print *, sum(field) + other(1)
  call MPI_Finalize(ierror)
contains
  subroutine scatter(into, where_to, column)
    double precision, intent(inout) :: into(:, :)
    integer, intent(in) :: where_to(:), column
    integer :: k, times
    do times = 1, 3
      do k = 1, size(where_to)
        into(where_to(k), column) = k * times
      end do
    end do
  end subroutine
end program
