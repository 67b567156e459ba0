! Does what c_requests.c does: COMMAND FILE DATASET [OPTION[=VALUE]...] -- NAME...
program fortran_requests
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use warpfold
  implicit none

  type(warpfold_request) :: request
  integer :: at, equals, ierror
  character(len=:), allocatable :: word

  call MPI_Init(ierror)
  call warpfold_prepare(argument(1), request, ierror)
  if (settled(ierror)) then
    do at = 4, command_argument_count()
      word = argument(at)
      if (word == "--") exit
      equals = index(word, "=")
      if (equals > 0) then
        call warpfold_set(request, word(:equals - 1), word(equals + 1:))
      else
        call warpfold_set(request, word)
      end if
    end do
    call warpfold_run(request, MPI_COMM_WORLD, argument(2), argument(3), ierror)
    if (settled(ierror)) then
      do at = at + 1, command_argument_count()
        call print_result(argument(at))
      end do
    end if
    call warpfold_free(request)
  end if
  call MPI_Finalize(ierror)

contains

  function argument(number) result(text)
    integer, intent(in) :: number
    character(len=:), allocatable :: text
    integer :: length
    call get_command_argument(number, length=length)
    allocate (character(len=length) :: text)
    call get_command_argument(number, text)
  end function

  logical function settled(status)
    integer, intent(in) :: status
    settled = status == warpfold_ok
    if (.not. settled) print "(a, i0, 2a)", "status ", status, ": ", warpfold_message()
  end function

  subroutine print_result(name)
    character(len=*), intent(in) :: name
    real(real64) :: real_value
    integer(int64) :: integer_value
    character(len=:), allocatable :: text
    integer :: status
    call warpfold_get(request, name, integer_value, status)
    if (status == warpfold_ok) then
      print "(2a, i0)", name, " integer ", integer_value
      return
    end if
    call warpfold_get(request, name, real_value, status)
    if (status == warpfold_ok) then
      print "(2a, i0)", name, " bits ", transfer(real_value, 0_int64)
      return
    end if
    call warpfold_get(request, name, text, status)
    if (settled(status)) print "(3a)", name, " text ", text
  end subroutine

end program
