# install, and the package that find_package(holotone) reads
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/holotone)

install(TARGETS holotone EXPORT holotone_targets)
if(HOLOTONE_PROGRAM)
  install(TARGETS holotone_cli)
endif()
# Headers that only the library's own sources include stay behind.
install(DIRECTORY holotone/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/holotone
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*_math.h"
        PATTERN "*_backends.hpp" EXCLUDE PATTERN "*_engine.hpp" EXCLUDE PATTERN "*_detail.hpp" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT holotone_targets NAMESPACE holotone:: DESTINATION ${package_folder})
configure_package_config_file(cmake/holotoneConfig.cmake.in ${PROJECT_BINARY_DIR}/holotoneConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holotoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holotoneConfig.cmake ${PROJECT_BINARY_DIR}/holotoneConfigVersion.cmake
        DESTINATION ${package_folder})
