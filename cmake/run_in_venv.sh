#!/bin/sh
# run_in_venv.sh PYTHON ARGUMENT...: what ctest runs for tests in Python. Exit code 77 says "skipped" to ctest.
if [ ! -x "$1" ]; then
  echo "skipped: there is no $1; tools/setup makes it"
  exit 77
fi
exec "$@"
