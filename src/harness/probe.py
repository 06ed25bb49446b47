"""Runs inside a sandbox and says what it can reach. Standard library only.

Reads one JSON document from the first argument:
{"connect": [[name, host, port], ...], "resolve": [host, ...], "seconds": 2.0}
and prints one: {"connect": {name: text}, "resolve": {host: text}, "facts": {...}}; "reached" is the text of success.
"""

import functools
import json
import os
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable


def attempt(answers: dict[str, str], name: str, action: Callable[[], object]) -> None:
    """Stores "reached" or the reason why not."""
    try:
        action()
        answers[name] = "reached"
    except OSError as error:
        answers[name] = type(error).__name__


def connect(host: str, port: int, seconds: float) -> None:
    """One TCP connection."""
    socket.create_connection((host, port), timeout=seconds).close()


def writable(path: str) -> bool:
    """Whether a file at this path can be opened for writing."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    except OSError:
        return False
    return True


def facts() -> dict[str, object]:
    """What the kernel grants this process."""
    wanted = ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Uid")
    status = {}
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            if key in wanted:
                status[key] = value.split()[0]
    devices = []
    for folder, _, names in os.walk("/dev"):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.lexists(path) and stat.S_ISBLK(os.lstat(path).st_mode):
                devices.append(path)
    devices += [path for path in ("/dev/mem", "/dev/kmsg", "/dev/kvm") if os.path.exists(path)]
    return {
        "status": status,
        "devices": sorted(devices),
        "engine_sockets": [
            path
            for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock")
            if os.path.exists(path)
        ],
        "writable": [
            path
            for path in (
                "/written",
                "/usr/written",
                "/opt/written",
                "/proc/sys/kernel/hostname",
                "/proc/sysrq-trigger",
            )
            if writable(path)
        ],
    }


def main() -> None:
    """Asks everything at once; what has no answer in time is silent."""
    questions = json.loads(sys.argv[1])
    seconds = questions["seconds"]
    connected, resolved, threads = {}, {}, []
    for name, host, port in questions["connect"]:
        connected[name] = "silent"
        action = functools.partial(connect, host, port, seconds)
        threads.append(threading.Thread(target=attempt, args=(connected, name, action), daemon=True))
    for host in questions["resolve"]:
        resolved[host] = "silent"
        action = functools.partial(socket.getaddrinfo, host, 443)
        threads.append(threading.Thread(target=attempt, args=(resolved, host, action), daemon=True))
    for thread in threads:
        thread.start()
    known = facts()
    end = time.monotonic() + seconds + 0.1
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    print(json.dumps({"connect": dict(connected), "resolve": dict(resolved), "facts": known}), flush=True)
    os._exit(0)


main()
