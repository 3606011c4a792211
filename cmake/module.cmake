# holotone_module(name): adds the sources of holotone/<name>/ and its folders to the library, chosen by suffix:
# x.cpp and x_cpu.cpp always, x_cuda.cu and x_cuda.cpp when HOLOTONE_CUDA is on, x_opencl.cpp when HOLOTONE_OPENCL is,
# x_kissfft_cpu.cpp when HOLOTONE_FFT is kissfft, x_fftw_cpu.cpp otherwise; opengl/ when HOLOTONE_DISPLAY is on,
# no_panel_window.cpp otherwise.
function(holotone_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")
  if(NOT HOLOTONE_OPENCL)
    list(FILTER sources EXCLUDE REGEX "_opencl\\.cpp$")
  endif()
  if(HOLOTONE_DISPLAY)
    list(FILTER sources EXCLUDE REGEX "/no_panel_window\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "/opengl/")
  endif()
  if(HOLOTONE_FFT STREQUAL "kissfft")
    list(FILTER sources EXCLUDE REGEX "_fftw_cpu\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "_kissfft_cpu\\.cpp$")
  endif()
  if(HOLOTONE_CUDA)
    file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_cuda.cu
                                                     ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_cuda.cpp)
    if(NOT HOLOTONE_DISPLAY)
      list(FILTER cuda_sources EXCLUDE REGEX "/opengl/")
    endif()
    list(APPEND sources ${cuda_sources})
  endif()
  target_sources(holotone PRIVATE ${sources})
endfunction()

# holotone_files(out file...): the files, each of which must exist: a list that names a file that has moved is an error.
function(holotone_files out)
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE} names ${file}: no such file")
    endif()
  endforeach()
  set(${out} ${ARGN} PARENT_SCOPE)
endfunction()

# holotone_headers(all public): every header of the library, and those that are for users. One that is not says
# "Not for users." in its first lines.
function(holotone_headers all public)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/holotone/*.hpp ${PROJECT_SOURCE_DIR}/holotone/*.h)
  set(for_users)
  foreach(header IN LISTS headers)
    file(READ ${PROJECT_SOURCE_DIR}/${header} beginning LIMIT 400)
    if(NOT beginning MATCHES "Not for users\\.")
      list(APPEND for_users ${header})
    endif()
  endforeach()
  set(${all} ${headers} PARENT_SCOPE)
  set(${public} ${for_users} PARENT_SCOPE)
endfunction()

# holotone_precompile(target header...): compiles the headers that most files of a target include once for all.
function(holotone_precompile target)
  if(HOLOTONE_PRECOMPILE)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
