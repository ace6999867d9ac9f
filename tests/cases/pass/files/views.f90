! Strings have their lengths behind all other arguments; views are set by all ranks.
program views
  use mpi_f08
  implicit none
  integer :: rank
  type(MPI_File) :: file
  type(MPI_Info) :: info
  character(len=40) :: value
  logical :: flag
  integer(kind=MPI_OFFSET_KIND) :: offset
  real :: field(100)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Info_create(info)
  call MPI_Info_set(info, "cb_nodes", "1")
  call MPI_Info_get(info, "cb_nodes", 40, value, flag)
  if (.not. flag .or. value /= '1') stop 1
  call MPI_Info_delete(info, "cb_nodes")
  field = rank
  call MPI_File_open(MPI_COMM_WORLD, 'files_views.tmp', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                     info, file)
  offset = 400 * rank
  call MPI_File_set_view(file, offset, MPI_REAL, MPI_REAL, "native", MPI_INFO_NULL)
  call MPI_File_write_all(file, field, 100, MPI_REAL, MPI_STATUS_IGNORE)
  call MPI_File_sync(file)
  call MPI_File_set_view(file, offset, MPI_REAL, MPI_REAL, "native", MPI_INFO_NULL)
  call MPI_Info_free(info)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_close(file)
  call MPI_Finalize()
end program
