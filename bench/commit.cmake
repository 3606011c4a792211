# Writes commit.hpp at every build, so that results carry the commit they were built from. Run as a script it does the
# writing; included it adds the target. -DHOLOTONE_COMMIT=... says it where the tree has no history.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  set(commit "${HOLOTONE_COMMIT}")
  if(NOT commit)
    execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT commit)
    set(commit "unknown")
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define HOLOTONE_COMMIT \"@commit@\"\n" @ONLY)
else()
  set(HOLOTONE_COMMIT "" CACHE STRING "Commit that benchmark results name; empty: asked of git at every build")
  add_custom_target(holotone_bench_commit
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/commit.hpp
            -DHOLOTONE_COMMIT=${HOLOTONE_COMMIT} -P ${CMAKE_CURRENT_SOURCE_DIR}/commit.cmake
    BYPRODUCTS ${CMAKE_CURRENT_BINARY_DIR}/commit.hpp VERBATIM)
endif()
