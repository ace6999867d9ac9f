module halo
contains
   subroutine exchange(n)
      integer, intent(in) :: n
      print *, n
   end subroutine
end module

program heat
   use halo
   call exchange(3)
   print *, "done"
end program
