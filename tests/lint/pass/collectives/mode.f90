! One rank reads the input for itself, in a mode that leaves alone what decides later; then all read
! it.
module input
  implicit none
  character(len=80) :: line
  integer :: steps = 0
contains
  integer function next(unit, mode)
    integer, intent(in) :: unit, mode
    character(len=80) :: read_now
    read (unit, '(a)', iostat=next) read_now
    if (next /= 0) then
      call fail(unit)
    else if (mode < 0) then
      line = read_now
    else
      steps = steps + ichar(read_now(1:1))
    end if
  end function

  subroutine fail(unit)
    include 'mpif.h'
    integer, intent(in) :: unit
    integer :: error
    if (unit < 0) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine
end module

program mode
  use input
  implicit none
  include 'mpif.h'
  integer :: error, rank, status
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (rank == 0) status = next(7, -1)
  status = next(7, 0)
  if (steps > 10) call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
