#!/usr/bin/env bash
# Makes sure that a Docker engine answers: installs it from Debian packages where it is absent, and starts it.
# Needs root for either. Prints what it did on standard error.
set -euo pipefail

answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

if answers; then
  echo "docker: an engine answers" >&2
  exit 0
fi
if [ "$(id -u)" != 0 ]; then
  echo "docker: no engine answers, and installing or starting one needs root" >&2
  exit 1
fi
if ! command -v dockerd >/dev/null || ! command -v mmdebstrap >/dev/null || ! command -v iptables >/dev/null; then
  echo "docker: installing docker.io mmdebstrap iptables" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq docker.io mmdebstrap iptables >/dev/null
fi
log=/var/log/evalxrl-dockerd.log
echo "docker: starting dockerd, log in $log" >&2
setsid dockerd >"$log" 2>&1 </dev/null &
for _ in $(seq 60); do
  if answers; then
    echo "docker: the engine is up" >&2
    exit 0
  fi
  sleep 1
done
echo "docker: the engine did not come up within a minute; the end of $log:" >&2
tail -n 20 "$log" >&2
exit 1
