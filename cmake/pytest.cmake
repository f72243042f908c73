# precast_pytest(<name> DIR <folder> [VENV venv|jax-venv] [LABELS ...])
#   Tests in Python, run with the virtual environment that tools/setup made: build/venv by default, build/jax-venv for
#   those that need real JAX. They find what they test in the environment:
#     PRECAST_BIN           build/bin/precast
#     PRECAST_FAKE_PLUGIN   the fake PJRT plugin
#     PRECAST_BUILD_DIR     the build tree
#   Python tests drive whole programs, which the sanitizer builds do not make.
function(precast_pytest name)
  if(PRECAST_SANITIZE)
    return()
  endif()
  cmake_parse_arguments(arg "" "DIR;VENV" "LABELS" ${ARGN})
  if(NOT arg_VENV)
    set(arg_VENV venv)
  endif()
  # pytest makes the last folder of this path, not those above it.
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/pytest")
  add_test(NAME ${name}
    COMMAND "${PROJECT_SOURCE_DIR}/build/${arg_VENV}/bin/python" -m pytest -q -p no:cacheprovider
      --basetemp "${PROJECT_BINARY_DIR}/pytest/${name}" "${arg_DIR}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set(environment
    "XDG_STATE_HOME=${PROJECT_BINARY_DIR}/tests/state"
    "PYTHONDONTWRITEBYTECODE=1"
    "PRECAST_BUILD_DIR=${PROJECT_BINARY_DIR}"
    "PRECAST_BIN=$<TARGET_FILE:precast_cli>"
    "PRECAST_FAKE_PLUGIN=$<TARGET_FILE:precast_fake_plugin>")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" ENVIRONMENT "${environment}")
endfunction()
