! One function reduces several variables, whose parts regions of OpenMP compute: only the variable
! that it is given becomes the same on all ranks, and only the one that a region is given may
! differ.
module kernels
  implicit none
  include 'mpif.h'
contains
  subroutine norm(values, result)
    real(8), intent(in) :: values(:)
    real(8), intent(inout) :: result
    integer :: i
    result = 0
    !$omp parallel do reduction(+:result)
    do i = 1, size(values)
      result = result + values(i) * values(i)
    end do
  end subroutine

  subroutine sum_up(value)
    real(8), intent(inout) :: value
    real(8) :: total
    integer :: error
    call MPI_Allreduce(value, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    value = total
  end subroutine
end module

program main
  use kernels
  implicit none
  real(8) :: values(100), first, second
  integer :: error, rank, step
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do step = 1, size(values)
    values(step) = rank
  end do
  call norm(values, first)
  call sum_up(first)
  do step = 1, 10
    call norm(values, second)
    if (first > 1) call MPI_Barrier(MPI_COMM_WORLD, error)
    call sum_up(second)
    if (second < first) exit
    values = values / 2
  end do
  call MPI_Finalize(error)
end program
