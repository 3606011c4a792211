# holotone_module(name): adds the sources of holotone/<name>/ to the library, chosen by suffix:
# x.cpp and x_cpu.cpp always, x_cuda.cu and x_cuda.cpp when HOLOTONE_CUDA is on.
function(holotone_module name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")
  if(HOLOTONE_CUDA)
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_cuda.cu
                                             ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_cuda.cpp)
    list(APPEND sources ${cuda_sources})
  endif()
  target_sources(holotone PRIVATE ${sources})
endfunction()
