! Tasks use the column of an array that belongs to the thread which executes them, one after the
! other.
!# np: 2
!# flags: -fopenmp
program tasks_by_number
  use mpi
  use omp_lib
  implicit none
  integer, parameter :: tasks = 20
  integer :: ierror, provided, rank, i, me, request
  integer :: out(4, 0:1), in(4, 0:1)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  !$omp parallel num_threads(2) private(me, request, ierror)
  !$omp single
  do i = 1, tasks
    !$omp task firstprivate(i) private(me, request, ierror) shared(out, in)
    me = omp_get_thread_num()
    out(:, me) = i
    call MPI_Isend(out(:, me), 4, MPI_INTEGER, 1 - rank, i, MPI_COMM_WORLD, request, ierror)
    call MPI_Recv(in(:, me), 4, MPI_INTEGER, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  call MPI_Finalize(ierror)
end program
