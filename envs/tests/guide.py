"""A guide as a program: its files are written and its commands run in the order in which they stand."""

import re
import subprocess
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"^`([\w./-]+)`:\n+\Z", re.M)


def blocks(text):
    """(path, content) of each file, whose path stands on the line before it, and (None, script) of each `sh` block."""
    for found in BLOCK.finditer(text):
        language, content = found.groups()
        named = NAMED.search(text[: found.start()])
        if language == "sh":
            yield None, content
        else:
            assert named, f"no path stands before the block that begins {content[:60]!r}"
            yield named[1], content


def follow(text, root, environment, elsewhere):
    """Does what a guide says in a copy of the repository; `/tmp` becomes another folder."""
    for path, content in blocks(text):
        content = content.replace("/tmp", str(elsewhere))
        if path:
            Path(root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(root, path).write_text(content)
            continue
        line = ["bash", "-euo", "pipefail", "-c", content]
        done = subprocess.run(line, cwd=root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{content}\n{done.stdout}\n{done.stderr}"
