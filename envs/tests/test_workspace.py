"""The command line, alone in an empty folder as a coder has it, and what it promises about its results."""

import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import GRID, ROOT
from safetensors.numpy import load_file

from evalxrl_envs.core import registry

ALWAYS = ("__init__.py", "__main__.py", "core", "agents", "serving")
PROGRESS = re.compile(r"update \d+/\d+  return (?:-?\d+\.\d|nan)  entropy -?\d[\d.e-]*  steps/s \d+k")


def copy_pruned(folder: Path, environment: str) -> Path:
    for part in (*ALWAYS, environment):
        source, target = ROOT / "evalxrl_envs" / part, folder / "evalxrl_envs" / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.md"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return folder


@pytest.fixture(scope="module", params=registry.names())
def environment(request):
    return request.param


@pytest.fixture(scope="module")
def workspace(environment, tmp_path_factory):
    return copy_pruned(tmp_path_factory.mktemp("workspace"), environment)


def config_of(workspace):
    (path,) = workspace.glob("evalxrl_envs/*/config.toml")
    return path


def shorten(workspace, updates):
    path = config_of(workspace)
    path.write_text(re.sub(r"updates = \d+", f"updates = {updates}", path.read_text()))


def test_every_verb_runs_in_the_pruned_copy(run, workspace, environment):
    shorten(workspace, 8)
    done = run("train", "--json", cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert all(PROGRESS.fullmatch(line) for line in done.stderr.splitlines()) and len(done.stderr.splitlines()) == 8
    document = json.loads(done.stdout)
    assert document["format"] == "evalxrl.training/1" and document["updates"] == 8
    assert set(document["seconds"]) == {"compile", "run", "total", "processor"} and document["returns"][-1][0] == 8
    done = run("evaluate", "--json", "--episodes", 16, cwd=workspace)
    document = json.loads(done.stdout)
    (agent,) = document["agents"]
    assert document["format"] == "evalxrl.evaluation/1" and len(agent["returns"]) == document["episodes"] == 16
    everything = environment == "treasure_grid"  # once is enough of what every environment shares
    if everything:
        assert "standard error" in run("evaluate", "--episodes", 16, cwd=workspace).stdout
    for suffix in ("gif", "png", "txt") if everything else ("png",):
        assert run("render", "--out", f"episode.{suffix}", cwd=workspace).returncode == 0
        assert (workspace / f"episode.{suffix}").stat().st_size > 100
    line = [sys.executable, "-m", "evalxrl_envs", "serve", "--port", "0", "--host", "127.0.0.1"]
    with subprocess.Popen(line, cwd=workspace, stderr=subprocess.PIPE, text=True) as process:
        port = int(process.stderr.readline().removeprefix("listening on "))
        socket.create_connection(("127.0.0.1", port)).close()
        process.kill()


def test_no_other_environment_is_importable_and_nothing_left_out_is_needed(workspace, environment):
    probe = "from evalxrl_envs.core import registry; print(registry.names())"
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); {probe}"], cwd=workspace,
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout.strip() == str([environment])
    for path in (workspace / "evalxrl_envs").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) .*(scoring|adapters|gymnasium|PIL)", path.read_text(), re.M), path


def test_what_a_coder_reads_is_small(workspace):
    files = [path for path in (workspace / "evalxrl_envs").rglob("*") if path.suffix in (".py", ".toml")]
    texts = {path: path.read_text().splitlines() for path in files}
    python = [line for path, lines in texts.items() if path.suffix == ".py" for line in lines]
    assert sum(bool(line.strip()) for line in python) <= 1700
    assert max(map(len, texts.values())) <= 350


def test_one_seed_gives_the_same_bytes_on_one_core_and_on_two(run, small_config, agent_file, tmp_path):
    for cores in ("0", "0,1"):
        path = tmp_path / f"{len(cores)}.safetensors"
        done = run("train", *GRID, "--config", small_config, "--agent", path, "--seed", 5, cores=cores)
        assert done.returncode == 0, done.stderr
        assert path.read_bytes() == agent_file.read_bytes()


def test_a_number_edited_in_the_configuration_compiles_nothing_anew(run, workspace, cache, tmp_path):
    shorten(workspace, 8)
    run("train", "--chunks", 1, cwd=workspace)
    entries = {path.name for path in cache.iterdir()}
    config = config_of(workspace)
    before = config.read_text()
    edited = re.sub(r"gamma = .*", "gamma = 0.5", before)
    edited = re.sub(r"(\[params\]\n(?:\w+ = \d+\n)*\w+ = ).*", r"\g<1>0.3", edited)
    assert len(set(edited.splitlines()) - set(before.splitlines())) == 2
    config.write_text(edited)
    source = workspace / "evalxrl_envs/agents/ppo.py"
    text = source.read_text()
    source.write_text("# a line more\n" + text.replace("hyper.learning_rate * (1 -", "hyper.learning_rate * (0.5 -"))
    assert source.read_text() != "# a line more\n" + text
    assert run("train", "--chunks", 1, cwd=workspace).returncode == 0
    source.write_text(text)
    config.write_text(before)
    new = {path.name for path in cache.iterdir()} - entries
    assert not {name for name in new if not name.endswith("-atime")}


def test_several_seeds_are_written_one_file_each_and_evaluated_together(run, small_config, tmp_path):
    done = run("train", *GRID, "--config", small_config, "--seeds", "3,18446744073709551615", "--agent", tmp_path)
    assert done.returncode == 0, done.stderr
    files = [tmp_path / "3.safetensors", tmp_path / "18446744073709551615.safetensors"]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert not np.array_equal(load_file(files[0])["policy/0/w"], load_file(files[1])["policy/0/w"])
    agents = [word for file in files for word in ("--agent", file)]
    document = json.loads(run("evaluate", *GRID, "--json", *agents, "--episodes", 32).stdout)
    assert [agent["agent"] for agent in document["agents"]] == [str(file) for file in files]
    assert document["agents"][0]["returns"] != document["agents"][1]["returns"]


def test_random_play_stands_in_for_an_agent(run):
    done = run("evaluate", *GRID, "--random", "--json", "--key", "ab" * 32, "--episodes", 1024)
    (agent,) = json.loads(done.stdout)["agents"]
    assert agent["agent"] == "random" and abs(np.mean(agent["returns"]) + 2.139) < 0.6


def test_screening_a_few_chunks_writes_no_agent(run, small_config, tmp_path):
    path = tmp_path / "agent.safetensors"
    done = run("train", *GRID, "--config", small_config, "--chunks", 2, "--agent", path, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["updates"] == 4 and not path.exists()


def test_mistakes_have_an_exit_code_and_one_clear_line(run, tmp_path, agent_file):
    bad_config, bad_agent = tmp_path / "bad.toml", tmp_path / "bad.safetensors"
    bad_config.write_text("[hyper]\ngama = 0.9\n")
    bad_agent.write_bytes(b"not an agent")
    wild = tmp_path / "wild.toml"
    wild.write_text("[static]\nupdates = 2\n[hyper]\nlearning_rate = 1e38\n")
    for code, words, arguments in (
        (2, "invalid choice", ["dance"]),
        (2, f"known: {', '.join(registry.names())}", ["train", "--environment", "atlantis"]),
        (2, "name one with --environment", ["train"]),
        (2, "did you mean 'gamma'", ["train", *GRID, "--config", bad_config]),
        (2, "from 0 to 18446744073709551615", ["train", "--seed", "-1"]),
        (2, "64 hexadecimal digits", ["evaluate", *GRID, "--key", "abcd"]),
        (2, "from 1 to", ["evaluate", *GRID, "--episodes", "0", "--random"]),
        (2, "--episodes", ["evaluate", *GRID, "--episodes", "-3", "--random"]),
        (2, "from 1 to", ["train", *GRID, "--chunks", "0"]),
        (2, "at most 1000", ["train", *GRID, "--budget-factor", "nan"]),
        (2, "at most 1000", ["train", *GRID, "--budget-factor", "1e300"]),
        (2, "at most 1000", ["train", *GRID, "--budget-factor", "0"]),
        (2, "from 0 to 65535", ["serve", *GRID, "--port", "70000"]),
        (2, "must end in", ["render", *GRID, "--agent", agent_file, "--out", tmp_path / "x.bmp"]),
        (3, "bad.safetensors", ["evaluate", *GRID, "--agent", bad_agent]),
        (3, "absent.safetensors", ["serve", *GRID, "--port", "0", "--agent", tmp_path / "absent.safetensors"]),
        (4, "diverged", ["train", *GRID, "--config", wild, "--agent", tmp_path / "wild.safetensors"]),
    ):
        done = run(*arguments)
        assert done.returncode == code and words in done.stderr, (arguments, done.returncode, done.stderr)
        assert "Traceback" not in done.stderr and not done.stdout
    assert not (tmp_path / "wild.safetensors").exists()
