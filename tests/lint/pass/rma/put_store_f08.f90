! module mpi_f08: what is put is written when the window is synchronised
program put_store_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  implicit none
  type(MPI_Win) :: win
  type(c_ptr) :: base
  real(8), pointer :: cells(:)
  real(8) :: value
  integer :: rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Win_allocate(80_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, cells, [10])
  call MPI_Win_fence(0, win)
  value = rank
  call MPI_Put(value, 1, MPI_REAL8, 0, 1_MPI_ADDRESS_KIND, 1, MPI_REAL8, win)
  call MPI_Win_fence(0, win)
  value = 2
  print *, cells(2), value
  call MPI_Win_free(win)
  call MPI_Finalize()
end program
