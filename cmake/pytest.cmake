# precast_pytest(<name> DIR <folder> [VENV <name>] [OPTIONAL] [PACKAGE] [PACKAGE_OF <venv>] [COST <seconds>]
#                [LABELS ...])
#   Tests in Python, run with the virtual environment that tools/setup made: build/venv by default, build/jax-venv for
#   those that need real JAX, build/jax-0.11-venv and build/jax-0.12-venv for newer ones. With OPTIONAL
#   the test is skipped where there is no such environment: not every machine has a Python for it. They find what they test in the environment:
#     PRECAST_BIN           build/bin/precast
#     PRECAST_FAKE_PLUGIN   the fake PJRT plugin
#     PRECAST_BUILD_DIR     the build tree
#   COST says about how long it takes: tests run two at a time, and the long ones start first.
#   With PACKAGE they find the Python package that was built for the environment (cmake/python.cmake), also as the folder
#   PRECAST_PYTHON_PACKAGE; where none was built there is no such test. PACKAGE_OF: that of an environment with the same
#   Python.
#   Python tests drive whole programs, which the sanitizer builds do not make.
function(precast_pytest name)
  if(PRECAST_SANITIZE)
    return()
  endif()
  cmake_parse_arguments(arg "OPTIONAL;PACKAGE" "DIR;VENV;COST;PACKAGE_OF" "LABELS" ${ARGN})
  if(NOT arg_VENV)
    set(arg_VENV venv)
  endif()
  if(arg_PACKAGE AND NOT arg_PACKAGE_OF)
    set(arg_PACKAGE_OF "${arg_VENV}")
  endif()
  if(arg_PACKAGE_OF AND NOT TARGET precast_python_${arg_PACKAGE_OF})
    return()
  endif()
  set(wrapper)
  if(arg_OPTIONAL)
    set(wrapper "${PROJECT_SOURCE_DIR}/cmake/run_in_venv.sh")
  endif()
  # pytest makes the last folder of this path, not those above it.
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/pytest")
  add_test(NAME ${name}
    COMMAND ${wrapper} "${PROJECT_SOURCE_DIR}/build/${arg_VENV}/bin/python" -m pytest -q -p no:cacheprovider
      --basetemp "${PROJECT_BINARY_DIR}/pytest/${name}" "${arg_DIR}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set(environment
    "XDG_STATE_HOME=${PROJECT_BINARY_DIR}/tests/state"
    "PYTHONDONTWRITEBYTECODE=1"
    "PRECAST_BUILD_DIR=${PROJECT_BINARY_DIR}"
    "PRECAST_BIN=$<TARGET_FILE:precast_cli>"
    "PRECAST_FAKE_PLUGIN=$<TARGET_FILE:precast_fake_plugin>")
  if(arg_PACKAGE_OF)
    set(package "${PROJECT_BINARY_DIR}/python/${arg_PACKAGE_OF}")
    list(APPEND environment "PRECAST_PYTHON_PACKAGE=${package}" "PYTHONPATH=${package}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" ENVIRONMENT "${environment}"
    SKIP_RETURN_CODE 77)
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()
