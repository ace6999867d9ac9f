! A line of text that one rank has read, and that is written anew by all: from a file that all read,
! by units of different numbers.
module input
  implicit none
  character(len=80) :: line
contains
  subroutine next(unit, status)
    integer, intent(in) :: unit
    integer, intent(out) :: status
    character(len=80) :: read_now
    read (unit, '(a)', iostat=status) read_now
    if (status == 0) line = read_now
  end subroutine
end module

program text
  use input
  implicit none
  include 'mpif.h'
  integer :: error, rank, status, unit
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  unit = 7
  if (rank == 0) then
    call next(5, status)
    unit = 8
  end if
  line = ''
  open (unit, file='text.in', iostat=status)
  call next(unit, status)
  if (status == 0) call MPI_Barrier(MPI_COMM_WORLD, error)
  if (ichar(line(1:1)) == 120) call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
