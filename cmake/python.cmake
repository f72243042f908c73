# precast_python(<name> PYTHON <python> [OPTIONAL])
#   With OPTIONAL nothing is made where that Python has no nanobind. The Python package for one Python, which has nanobind: build/python/<name>/precast, to be put on PYTHONPATH as
#   build/python/<name>. The extension finds libprecast.so beside it (in a wheel) or in build/lib.
function(precast_python name)
  cmake_parse_arguments(arg "OPTIONAL" "PYTHON" "" ${ARGN})
  execute_process(COMMAND "${arg_PYTHON}" -c
      "import os, sysconfig, nanobind; d = os.path.dirname(nanobind.__file__); \
print(sysconfig.get_paths()['include'], sysconfig.get_config_var('EXT_SUFFIX'), d, sep=';')"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_VARIABLE words)
  if(failed AND arg_OPTIONAL)
    message(STATUS "no Python package for ${arg_PYTHON}: it has no nanobind")
    return()
  endif()
  if(failed)
    message(FATAL_ERROR "${arg_PYTHON} has no nanobind, which the Python package needs: ${words}")
  endif()
  list(GET found 0 include)
  list(GET found 1 suffix)
  list(GET found 2 nanobind)
  if(NOT EXISTS "${include}/Python.h")
    message(FATAL_ERROR "there is no ${include}/Python.h (Debian package python3-dev)")
  endif()

  add_library(precast_nanobind_${name} STATIC "${nanobind}/src/nb_combined.cpp")
  target_include_directories(precast_nanobind_${name} SYSTEM PUBLIC
    "${include}" "${nanobind}/include" "${nanobind}/ext/robin_map/include")
  # Not ours: its warnings are nobody's business. A domain of its own: JAX brings another copy.
  target_compile_options(precast_nanobind_${name} PRIVATE -w -fno-strict-aliasing -ffunction-sections)
  target_compile_definitions(precast_nanobind_${name} PUBLIC NB_DOMAIN=precast NB_COMPACT_ASSERTIONS)

  set(folder "${PROJECT_BINARY_DIR}/python/${name}")
  add_library(precast_python_${name} MODULE "${PROJECT_SOURCE_DIR}/python/_precast.cc")
  target_compile_options(precast_python_${name} PRIVATE -fno-strict-aliasing)
  target_link_libraries(precast_python_${name} PRIVATE precast_nanobind_${name} precast)
  set_target_properties(precast_python_${name} PROPERTIES PREFIX "" SUFFIX "${suffix}"
    OUTPUT_NAME _precast LIBRARY_OUTPUT_DIRECTORY "${folder}/precast"
    INSTALL_RPATH "$ORIGIN/lib")
  add_custom_target(precast_python_${name}_files ALL
    COMMAND "${CMAKE_COMMAND}" -E copy_directory "${PROJECT_SOURCE_DIR}/python/precast" "${folder}/precast")
  add_dependencies(precast_python_${name} precast_python_${name}_files)
endfunction()

# The parts of a wheel (pyproject.toml), as scikit-build-core asks for them.
function(precast_wheel)
  precast_python(wheel PYTHON "${Python_EXECUTABLE}")
  install(TARGETS precast_python_wheel LIBRARY DESTINATION precast COMPONENT python)
  if(PRECAST_PREBUILT)
    set(lib "${PRECAST_PREBUILT}/lib")
    # A wheel holds no links: the file has the name that programs ask for.
    set(soname "libprecast.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
    file(REAL_PATH "${lib}/${soname}" library)
    install(PROGRAMS "${library}" RENAME "${soname}" DESTINATION precast/lib COMPONENT python)
    if(EXISTS "${lib}/libprecast_pjrt.so")
      install(PROGRAMS "${lib}/libprecast_pjrt.so" DESTINATION precast/lib COMPONENT python)
    endif()
    install(PROGRAMS "${PRECAST_PREBUILT}/bin/precast" DESTINATION precast/bin COMPONENT python)
    return()
  endif()
  set_target_properties(precast_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  # A wheel holds no links: the file has the name that programs ask for.
  set_target_properties(precast PROPERTIES VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  install(TARGETS precast LIBRARY DESTINATION precast/lib NAMELINK_SKIP COMPONENT python)
  install(TARGETS precast_cli RUNTIME DESTINATION precast/bin COMPONENT python)
  if(TARGET precast_pjrt_wrapper)
    install(TARGETS precast_pjrt_wrapper LIBRARY DESTINATION precast/lib COMPONENT python)
  endif()
endfunction()
