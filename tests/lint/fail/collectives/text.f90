! A line of text that one rank alone has read, and that decides what all call.
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
  integer :: error, rank, status
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  line = ''
  if (rank == 0) call next(5, status)
  if (ichar(line(1:1)) == 120) call MPI_Barrier(MPI_COMM_WORLD, error) !~ CS-COL-01 access possible
  call MPI_Finalize(error)
end program
