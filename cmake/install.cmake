# install, and the package that find_package(holotone) reads
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/holotone)

install(TARGETS holotone EXPORT holotone_targets)
if(HOLOTONE_PROGRAM)
  install(TARGETS holotone_cli)
  foreach(module holotone_program holotone_mpi)
    if(TARGET ${module})
      install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/holotone)
    endif()
  endforeach()
endif()
holotone_headers(headers public_headers)
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT holotone_targets NAMESPACE holotone:: DESTINATION ${package_folder})
configure_package_config_file(cmake/holotoneConfig.cmake.in ${PROJECT_BINARY_DIR}/holotoneConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holotoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holotoneConfig.cmake ${PROJECT_BINARY_DIR}/holotoneConfigVersion.cmake cmake/fft.cmake
        DESTINATION ${package_folder})
