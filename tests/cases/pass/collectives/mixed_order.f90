! Ranks that are in different branches of a program still call the same collectives.
!# np: 4
program mixed_order
  use mpi_f08
  implicit none
  integer :: rank, n, i
  real, allocatable :: field(:)
  logical :: go
  type(MPI_Comm) :: grid, row
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, [2, 2], [.true., .false.], .false., grid)
  call MPI_Cart_sub(grid, [.false., .true.], row)
  n = 4
  allocate (field(n))
  field = rank
  if (rank == 0) then
    call output(field)
  else
    call MPI_Reduce(field, field, n, MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD)
  end if
  go = .true.
  do i = 1, 5
    if (mod(rank, 2) == 0) then
      call MPI_Bcast(field, n, MPI_REAL, 0, row)
    else
      call MPI_Bcast(field(1), n, MPI_REAL4, 0, row)
    end if
    call MPI_Allreduce(MPI_IN_PLACE, go, 1, MPI_LOGICAL, MPI_LAND, grid)
  end do
  if (.not. go) stop 1
  call MPI_Comm_free(row)
  call MPI_Comm_free(grid)
  call MPI_Finalize()
contains
  subroutine output(field)
    real, intent(inout) :: field(:)
    call MPI_Reduce(MPI_IN_PLACE, field, size(field), MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD)
    if (field(1) /= 6) stop 1
  end subroutine
end program
