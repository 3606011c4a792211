# Finds what the library stands on; each program finds its own. A file format whose library is missing is left out (and said
# so); the rest is required. What is added here belongs into holotoneConfig.cmake.in too.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(fmt REQUIRED)
pkg_check_modules(FFTW REQUIRED IMPORTED_TARGET fftw3f)
pkg_check_modules(FFTW64 REQUIRED IMPORTED_TARGET fftw3)
find_library(FFTW_OMP_LIBRARY fftw3f_omp HINTS ${FFTW_LIBRARY_DIRS} REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)

find_package(TIFF 4.5 QUIET)  # the first that keeps messages and memory limits per file
find_package(HDF5 QUIET COMPONENTS C)
find_package(assimp CONFIG QUIET)
foreach(format TIFF HDF5 assimp)
  if(NOT ${format}_FOUND)
    message(STATUS "holotone: no ${format}: its file formats are left out")
  endif()
endforeach()

if(HOLOTONE_CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
