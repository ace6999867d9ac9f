! All ranks write in all steps.
!# np: 2
program steps
  use mpi
  implicit none
  integer :: rank, ierror, file, step
  integer(kind=MPI_OFFSET_KIND) :: offset
  real :: field(100)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  field = rank
  call MPI_File_open(MPI_COMM_WORLD, 'files_steps.tmp', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                     MPI_INFO_NULL, file, ierror)
  do step = 1, 3
    offset = 400 * (2 * step + rank)
    call MPI_File_write_at_all(file, offset, field, 100, MPI_REAL, MPI_STATUS_IGNORE, ierror)
  end do
  call MPI_File_close(file, ierror)
  call MPI_Finalize(ierror)
end program
