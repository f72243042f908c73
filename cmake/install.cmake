# cmake --install: the library, its headers, the command, the documents, and what finds them: find_package(precast CONFIG)
# with the target precast::precast, and precast.pc for pkg-config. All of it may be moved to another place afterwards.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS precast EXPORT precast-targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS precast_pjrt_wrapper LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/precast"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")

# The command finds the library by its own place.
file(RELATIVE_PATH to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set_target_properties(precast_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${to_lib}")
install(TARGETS precast_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

install(FILES CHANGELOG.md LICENSE README.md SECURITY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md")

# Before 1.0 another minor version may change the C++ API.
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/precast")
set(made "${PROJECT_BINARY_DIR}/install")
configure_package_config_file(cmake/precast-config.cmake.in "${made}/precast-config.cmake"
  INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${made}/precast-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${made}/precast-config.cmake" "${made}/precast-config-version.cmake"
  DESTINATION "${package}")
install(EXPORT precast-targets NAMESPACE precast:: DESTINATION "${package}")

file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
configure_file(cmake/precast.pc.in "${made}/precast.pc" @ONLY)
install(FILES "${made}/precast.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
