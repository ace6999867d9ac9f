! A part of an array that a procedure is handed, sent to the next rank, which the last one has none
! of.
module exchange
  implicit none
  include 'mpif.h'
contains
  subroutine hand_on(part, rank)
    real, intent(inout) :: part(:)
    integer, intent(in) :: rank
    integer :: error
    call MPI_Send(part, size(part), MPI_REAL, rank + 1, 0, MPI_COMM_WORLD, error) !~ CS-ARG-01 operation
  end subroutine
end module

program border
  use exchange
  implicit none
  real, allocatable :: field(:, :)
  integer :: rank, ranks, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  allocate (field(10, 3))
  field = 1
  if (rank > 0) call MPI_Recv(field(1, 3), 10, MPI_REAL, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call hand_on(field(:, 2), rank)
  print *, field(1, 3)
  call MPI_Finalize(error)
end program
