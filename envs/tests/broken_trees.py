"""The malfunctions as trees: each fault applied to a pruned copy of the package, with what it changed."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT
from test_workspace import copy_pruned

MALFUNCTIONS = ROOT.parent / "malfunctions"


@dataclass(frozen=True)
class Tree:
    """A broken package below `folder`, and the changed files by path relative to it."""

    name: str
    environment: str
    folder: Path
    changed: dict[str, str]

    def changes(self, *parts):
        """True when a changed file lies in one of these parts of the package."""
        return any(path.split("/")[1] in parts and not path.endswith(".toml") for path in self.changed)

    @property
    def source(self):
        """The changed Python files with their text: trees of equal source differ in numbers only."""
        return tuple(sorted((path, text) for path, text in self.changed.items() if path.endswith(".py")))


def patched(text, hunks):
    """The text after the hunks of one file of a unified diff; every context line must be where the hunk says."""
    old, new, at = text.splitlines(keepends=True), [], 0
    for hunk in re.split(r"^(?=@@ )", hunks, flags=re.M)[1:]:
        head, *lines = hunk.splitlines(keepends=True)
        start, count = re.match(r"@@ -(\d+)(?:,(\d+))?", head).groups()
        begin = int(start) - (count != "0")
        new, at = new + old[at:begin], begin
        for line in lines:
            mark, rest = line[0], line[1:]
            if mark in " -":
                assert old[at] == rest, f"line {at + 1} is {old[at]!r}, not {rest!r}"
                at += 1
            if mark in " +":
                new.append(rest)
    return "".join(new + old[at:])


def files_of(diff):
    """The path and the hunks of each file of a unified diff with prefixes a/ and b/."""
    for part in re.split(r"^(?=--- a/)", diff, flags=re.M)[1:]:
        head, target, hunks = part.split("\n", 2)
        path = head.removeprefix("--- a/")
        assert target == f"+++ b/{path}", target
        yield path, hunks


def break_tree(name, environment, diff, folder):
    """Makes one tree in an empty folder."""
    copy_pruned(folder, environment)
    changed = {}
    for path, hunks in files_of(diff):
        changed[path] = patched((folder / path).read_text(), hunks)
        (folder / path).write_text(changed[path])
    return Tree(name, environment, folder, changed)


def every_tree(folder):
    """One tree per folder of the catalogue, by name."""
    trees = []
    for path in sorted(MALFUNCTIONS.glob("*/malfunction.toml")):
        environment = tomllib.loads(path.read_text())["environment"]
        diff = path.with_name("fault.diff").read_text()
        trees.append(break_tree(path.parent.name, environment, diff, folder / path.parent.name))
    return trees
