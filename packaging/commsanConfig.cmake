# find_package(commsan):
#
#   COMMSAN_EXECUTABLE      the command
#   commsan::annotations    include directory of commsan.h: names of memory and regions in profiles
#   commsan_check(TARGET…)  compiles and links these targets: every load and store is checked
#   commsan_add_test(NAME name [NP n] COMMAND program [ARGS…])
#                           a test that runs the program under commsan, by MPI's launcher if NP
#                           is given (FindMPI's MPIEXEC_EXECUTABLE), and fails if there are
#                           findings
#
# commsan_check works with the Makefile and Ninja generators. For a whole build, the preset in
# share/commsan/CMakePresets.json needs no change to the project.

get_filename_component(COMMSAN_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(COMMSAN_EXECUTABLE "${COMMSAN_PREFIX}/bin/commsan")
if(NOT EXISTS "${COMMSAN_EXECUTABLE}")
  set(commsan_FOUND FALSE)
  set(commsan_NOT_FOUND_MESSAGE "${COMMSAN_EXECUTABLE} is missing: install commsan again")
  return()
endif()

if(NOT TARGET commsan::annotations)
  add_library(commsan::annotations INTERFACE IMPORTED)
  set_target_properties(commsan::annotations PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${COMMSAN_PREFIX}/include")
endif()

function(commsan_check)
  foreach(target IN LISTS ARGN)
    get_target_property(type ${target} TYPE)
    set(languages C=cc CXX=cxx Fortran=fc)
    foreach(language IN LISTS languages)
      string(REPLACE "=" ";" language "${language}")
      list(GET language 0 name)
      list(GET language 1 wrapper)
      set_property(TARGET ${target} PROPERTY ${name}_COMPILER_LAUNCHER "${COMMSAN_EXECUTABLE};${wrapper}")
    endforeach()
    # A launcher of links exists for all languages only as a rule, which archivers would get, too.
    if(type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
      set_property(TARGET ${target} PROPERTY RULE_LAUNCH_LINK "${COMMSAN_EXECUTABLE} cc")
    endif()
  endforeach()
endfunction()

function(commsan_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME;NP" "COMMAND")
  if(NOT test_NAME OR NOT test_COMMAND)
    message(FATAL_ERROR "commsan_add_test(NAME name [NP n] COMMAND program [ARGS…])")
  endif()
  set(launcher)
  if(test_NP)
    if(NOT MPIEXEC_EXECUTABLE)
      message(FATAL_ERROR "commsan_add_test: NP needs find_package(MPI) before")
    endif()
    set(launcher ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${test_NP} ${MPIEXEC_PREFLAGS})
  endif()
  # The preset's launcher is commsan already.
  set(run "${COMMSAN_EXECUTABLE}" run --output "${CMAKE_CURRENT_BINARY_DIR}/${test_NAME}.commsan" --)
  if(launcher MATCHES "^[^;]*commsan;run;")
    set(run)
  endif()
  list(POP_FRONT test_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${test_NAME} COMMAND ${run} ${launcher} ${program} ${test_COMMAND})
endfunction()
