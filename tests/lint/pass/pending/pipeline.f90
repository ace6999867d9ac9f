! A pipeline of stages: each waits for what the one before has sent, but for the first, which has no
! such message. How many stages there are, others might change as far as one can see here.
subroutine pipeline(next)
  implicit none
  include 'mpif.h'
  integer :: next, stage, sent, received, error, stages
  integer :: status(MPI_STATUS_SIZE)
  double precision :: out(100), in(100)
  common /partition/ stages
  common /buffers/ out, in
  do stage = stages, 1, -1
    if (stage /= stages) then
      call MPI_Wait(sent, status, error)
      call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, received, error)
      call MPI_Wait(received, status, error)
    end if
    if (stage /= 1) then
      call MPI_Isend(out, 100, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, sent, error)
    end if
  end do
end subroutine

program main
  implicit none
  include 'mpif.h'
  integer :: error, rank, ranks, stages
  common /partition/ stages
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  stages = 3
  call pipeline(mod(rank + 1, ranks))
  call MPI_Finalize(error)
end program
