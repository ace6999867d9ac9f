! An allocatable array of a module is written after the wait of the receive that fills it.
module fields
  implicit none
  real(8), allocatable :: halo(:), row(:)
end module

program main
  use fields
  implicit none
  include 'mpif.h'
  integer :: ierror, rank, size, request
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  allocate(halo(100), row(100))
  row = rank
  call MPI_Irecv(halo, 100, MPI_DOUBLE_PRECISION, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, request, ierror)
  call MPI_Send(row, 100, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 0, MPI_COMM_WORLD, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  halo(3) = 1
  deallocate(halo, row)
  call MPI_Finalize(ierror)
end program
