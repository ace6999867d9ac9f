! The section that receives also reads what came.
!# flags: -fopenmp
program main
  use mpi
  use omp_lib
  implicit none
  integer :: provided, rank, err, seen
  integer, save :: in(4), out(4)
  logical, save :: over
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, err)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  out = 7
  seen = 0
  over = .false.
  !$omp parallel sections num_threads(2)
  !$omp section
  call stay_here()
  !$omp section
  call MPI_Sendrecv(out, 4, MPI_INTEGER, 1 - rank, 0, in, 4, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)
  seen = in(2)
  !$omp section
  !$omp atomic write
  over = .true.
  !$omp end parallel sections
  call MPI_Finalize(err)
  if (seen /= 7) stop 1
contains
  subroutine stay_here()
    logical :: now
    do
      !$omp atomic read
      now = over
      if (now) return
    end do
  end subroutine
end program
