# cmake -DMODE=package|subdirectory -DSOURCE=<holotone> -DBUILD=<its build folder> -DVERSION=... -DFOLDER=<scratch> -P run.cmake
# package: installs the build below FOLDER, moves the tree (a package must not know where it was), then configures, builds and
# runs the consumer against it. subdirectory: configures and compiles it against the source tree without building the library.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

file(REMOVE_RECURSE ${FOLDER})
set(configure ${CMAKE_COMMAND} -S ${SOURCE}/tests/consumer -B ${FOLDER}/build -G Ninja
    -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_BUILD_TYPE=Debug)
if(MODE STREQUAL "package")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/first)
  file(RENAME ${FOLDER}/first ${FOLDER}/moved)
  if(NOT EXISTS ${FOLDER}/moved/include/holotone/hologram/point_cloud.hpp OR
     EXISTS ${FOLDER}/moved/include/holotone/hologram/point_cloud/engine.hpp)
    message(FATAL_ERROR "installed headers: expected those for users and no others")
  endif()
  run(${configure} -DCMAKE_PREFIX_PATH=${FOLDER}/moved -DHOLOTONE_EXPECTED_VERSION=${VERSION})
  run(${CMAKE_COMMAND} --build ${FOLDER}/build -t consumer)
  run(${CMAKE_COMMAND} -E chdir ${FOLDER}/build ${FOLDER}/build/consumer)
  run(${FOLDER}/moved/bin/holotone --version)
else()
  run(${configure} -DHOLOTONE_FOLDER=${SOURCE})
  run(${CMAKE_COMMAND} --build ${FOLDER}/build -t consumer_objects)
endif()
file(REMOVE_RECURSE ${FOLDER})
