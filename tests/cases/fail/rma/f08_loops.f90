! A loop goes down every other row of a window's columns; others put into one of these (use
! mpi_f08).
!# flags: -O2
program f08_loops
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer, parameter :: n = 42
  type(MPI_Win) :: win
  type(MPI_Datatype) :: row
  integer :: rank, peer
  integer(kind=MPI_ADDRESS_KIND) :: place
  real(8), save, asynchronous :: out(n) = 7
  type(c_ptr) :: window_at
  real(8), pointer, asynchronous :: window(:, :)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  peer = 1 - rank
  place = 8 * n * n
  call MPI_Win_allocate(place, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window_at, win)
  call c_f_pointer(window_at, window, [n, n])
  call MPI_Type_vector(n, 1, n, MPI_DOUBLE_PRECISION, row)
  call MPI_Type_commit(row)
  call MPI_Win_lock_all(0, win)
  call fill(window)
  call MPI_Barrier(MPI_COMM_WORLD)

  call go_down(window)
  place = 13
  call MPI_Put(out, n, MPI_DOUBLE_PRECISION, peer, place, 1, row, win) !~ CS-RMA-03 operation
  call MPI_Win_flush_all(win)
  call MPI_Win_unlock_all(win)

  call MPI_Type_free(row)
  call MPI_Win_free(win)
  call MPI_Finalize()
contains
  subroutine fill(matrix)
    real(8), intent(out) :: matrix(n, n)
    matrix = 1
  end subroutine

  subroutine go_down(matrix)
    real(8), intent(inout) :: matrix(n, n)
    integer :: i, j
    do j = 1, n
      do i = n, 1, -2
        matrix(i, j) = i !~ CS-RMA-03 access
      end do
    end do
  end subroutine
end program
