"""Importing a module makes no device array, prints nothing, touches no file and no global setting."""

import subprocess
import sys
from pathlib import Path

from evalxrl_envs.core import registry

ROOT = Path(__file__).parents[1]
PROBE = """
import sys, pkgutil, importlib, os
sys.dont_write_bytecode = True
import jax
before = dict(jax.config.values)
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" and isinstance(args[1], str)
                 and set(args[1]) & set("wax+") else None)
import evalxrl_envs
for module in pkgutil.walk_packages(evalxrl_envs.__path__, "evalxrl_envs."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
assert dict(jax.config.values) == before, "a setting of JAX changed"
assert not jax._src.xla_bridge._backends, "a device was started"
assert not opened, opened
"""


def test_import_does_nothing():
    done = subprocess.run([sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_package_inits_are_empty():
    for path in (ROOT / "evalxrl_envs").rglob("__init__.py"):
        assert path.read_text() == "", path


def test_arrows_between_packages_hold():
    allowed = {"core": set(), "agents": {"core"}, "serving": {"core", "agents"}, "scoring": {"core", "serving"}}
    allowed |= {environment: {"core"} for environment in registry.names()}
    for package, targets in allowed.items():
        for path in (ROOT / "evalxrl_envs" / package).glob("*.py"):
            for line in path.read_text().splitlines():
                words = line.strip().split()
                if len(words) > 2 and words[0] == "from" and words[1].startswith(".."):
                    target = words[1].lstrip(".").split(".")[0]
                    names = {target} if target else set(words[3].split(","))
                    assert names <= targets, f"{path}: {line}"
    protocol = (ROOT / "evalxrl_envs/serving/protocol.py").read_text()
    assert "from ." not in protocol and "jax" not in protocol
    client = (ROOT / "evalxrl_envs/scoring").glob("*.py")
    assert all("agents" not in path.read_text() and "server" not in path.read_text() for path in client)
