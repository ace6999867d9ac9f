! Reads of a file that calls without a status complete.
program read_it
  use mpi_f08
  implicit none
  integer, asynchronous :: values(10)
  type(MPI_File) :: file
  type(MPI_Request) :: request
  character(200) :: path
  logical :: done

  call get_command_argument(1, path)
  call MPI_Init()
  values = 1
  call MPI_File_open(MPI_COMM_SELF, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
  call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, values, 10, MPI_INTEGER, MPI_STATUS_IGNORE)
  call MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, values, 5, MPI_INTEGER, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_File_iread_at(file, 8_MPI_OFFSET_KIND, values, 7, MPI_INTEGER, request)
  done = .false.
  do while (.not. done)
    call MPI_Test(request, done, MPI_STATUS_IGNORE)
  end do
  call MPI_File_close(file)
  call MPI_Finalize()
end program
