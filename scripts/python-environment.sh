#!/usr/bin/env bash
# Makes a virtual environment, once per content of its lock files, and prints its path.
# Usage: python-environment.sh [NAME LOCK...]; without arguments it is that of the Python tests.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3.11}
command -v "$python" >/dev/null || python=python3
if ! "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
  echo "python-environment: Python 3.11 is needed; set PYTHON to its path" >&2
  exit 1
fi
name=${1:-tests}
locks=("${@:2}")
if [ $# -eq 0 ]; then locks=(envs/requirements.lock envs/requirements-test.lock); fi
hash=$(cat "${locks[@]}" | sha256sum | cut -c1-16)
home=${EVALXRL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/evalxrl}
venv=$home/$name-$hash
if [ ! -e "$venv/complete" ]; then
  echo "python-environment: installing the locked packages into $venv" >&2
  rm -rf "$venv"
  mkdir -p "$home"
  "$python" -m venv "$venv"
  requirements=()
  for lock in "${locks[@]}"; do requirements+=(-r "$lock"); done
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes "${requirements[@]}" >&2
  touch "$venv/complete"
fi
echo "$venv"
