"""The command line: train, evaluate, serve, render."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .core import runtime

DEFAULT_AGENT = "agent/parameters.safetensors"


class UsageError(Exception):
    """A command line that cannot be followed."""


def say(line: str) -> None:
    """Writes one line of talk."""
    print(line, file=sys.stderr, flush=True)


def configure(arguments: argparse.Namespace) -> None:
    """Sets XLA's options, which must precede the import of JAX, and JAX's own."""
    runtime.prepare()
    import jax

    if arguments.device != "auto":
        jax.config.update("jax_platforms", {"cpu": "cpu", "gpu": "cuda"}[arguments.device])
    if arguments.verb in ("train", "evaluate"):
        cache = os.environ.get("EVALXRL_XLA_CACHE") or str(Path.cwd() / ".cache" / "xla")
        jax.config.update("jax_compilation_cache_dir", cache)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def setting_of(arguments: argparse.Namespace) -> Any:
    """The environment and its configuration, as the arguments name them."""
    from .agents import train
    from .core import registry

    known, name = registry.names(), arguments.environment
    if name is None and len(known) != 1:
        raise UsageError(f"name one with --environment: {', '.join(known)}")
    try:
        env, params = registry.make(name or known[0])
    except KeyError as error:
        raise UsageError(error.args[0]) from error
    return train.read_config(env, params, arguments.config)


def train_verb(arguments: argparse.Namespace) -> None:
    """Trains and writes the agent, or with --seeds one agent per seed."""
    import jax

    compiling: list[float] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, duration_secs, **_: compiling.extend([duration_secs] * event.startswith("/jax/core/compile/"))
    )
    begun = time.perf_counter()
    from .agents import checkpoint, train

    setting = setting_of(arguments)
    updates = max(1, round(setting.static.updates * arguments.budget_factor))
    setting = setting._replace(static=setting.static._replace(updates=updates))
    seeds = arguments.seeds or [arguments.seed]
    result = train.run(setting, seeds, say, arguments.chunks)
    config = arguments.config or f"{setting.env.name}/config.toml"
    for i, seed in enumerate(seeds if arguments.chunks is None else []):
        training = jax.tree.map(lambda x, i=i: x[i], result.training) if len(seeds) > 1 else result.training
        path = Path(arguments.agent, f"{seed}.safetensors") if arguments.seeds else arguments.agent
        checkpoint.write_agent(path, train.agent_of(setting, training, seed, config))
    if arguments.json:
        total, compiled = time.perf_counter() - begun, sum(compiling)
        seconds = {"compile": compiled, "run": total - compiled, "total": total, "processor": time.process_time()}
        document = {"format": "evalxrl.training/1", "updates": result.returns[-1][0], "seconds": seconds}
        print(json.dumps(document | {"returns": result.returns}))


def evaluate_verb(arguments: argparse.Namespace) -> None:
    """Plays greedy episodes and prints mean and standard error."""
    import numpy as np

    from .agents import checkpoint, evaluate
    from .core import keys, registry
    from .serving import server

    setting = setting_of(arguments)
    env, space = setting.env, setting.env.action_space
    try:
        key = keys.seed_key(keys.hex_seed(arguments.key) if arguments.key else arguments.seed)
    except ValueError as error:
        raise UsageError(f"--key: {error}") from error
    if arguments.random:
        acts = {"random": evaluate.random_policy(key, space)}
    else:
        agents = {path: checkpoint.read_agent(path, env) for path in arguments.agents or [DEFAULT_AGENT]}
        greedy, served = partial(evaluate.greedy_policy, space=space), partial(server.served_policy, env=env)
        acts = {path: (served if arguments.served else greedy)(agent) for path, agent in agents.items()}
    floor, played = registry.entry(env.name).return_floor, []
    for name, act in acts.items():
        returns = evaluate.evaluate(env, setting.params, act, key, arguments.episodes).returns
        floored = np.maximum(returns, floor)
        played.append({"agent": name, "returns": floored.tolist(), "unfloored_returns": returns.tolist()})
        if not arguments.json:
            spread = floored.std() / max(len(floored) - 1, 1) ** 0.5
            print(f"{name}  return {floored.mean():.3f}  standard error {spread:.3f}  episodes {len(floored)}")
    if arguments.json:
        head = {"format": "evalxrl.evaluation/1", "environment": env.name, "episodes": arguments.episodes}
        print(json.dumps(head | {"agents": played}))


def serve_verb(arguments: argparse.Namespace) -> None:
    """Serves the agent until killed."""
    from .agents import checkpoint
    from .serving import server

    env = setting_of(arguments).env
    server.serve(checkpoint.read_agent(arguments.agent, env), env, arguments.host, arguments.port, say)


def render_verb(arguments: argparse.Namespace) -> None:
    """Writes one greedy episode as a strip of at most eight pictures, an animation or text."""
    import jax

    from .agents import checkpoint, evaluate
    from .core import images, keys, registry

    setting, out = setting_of(arguments), Path(arguments.out)
    env = setting.env
    if out.suffix not in (".gif", ".png", ".txt"):
        raise UsageError(f"--out {out}: the name must end in .gif, .png or .txt")
    act = evaluate.greedy_policy(checkpoint.read_agent(arguments.agent, env), env.action_space)
    states: list[Any] = []
    evaluate.evaluate(env, setting.params, act, keys.seed_key(arguments.episode_seed), 1, states.append)
    states = [jax.tree.map(lambda x: x[0], state) for state in states]
    drawing = registry.part(env.name, "render")
    if out.suffix == ".txt":
        out.write_text("\n\n".join(drawing.render_text(state, setting.params) for state in states) + "\n")
    elif out.suffix == ".png":
        shown = sorted({round(i * (len(states) - 1) / 7) for i in range(8)})
        images.write_png(out, images.strip([drawing.render_rgb(states[i], setting.params) for i in shown]))
    else:
        images.write_gif(out, [drawing.render_rgb(state, setting.params) for state in states], fps=4)


def whole(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers between two."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from {least} to {most}")
        return int(text)

    return read


seed, count, port = whole(0, 2**64 - 1), whole(1, 2**31 - 1), whole(0, 65535)


def factor(text: str) -> float:
    """Reads a number above 0 and at most 1000."""
    if not 0 < float(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0 and at most 1000")
    return float(text)


def parser() -> argparse.ArgumentParser:
    """The arguments of every verb."""
    root = argparse.ArgumentParser(prog="python -m evalxrl_envs", description="Train and run agents.")
    verbs = root.add_subparsers(dest="verb", required=True)

    def verb(run: Callable[[argparse.Namespace], None], **agent: str) -> Callable[..., argparse.Action]:
        add = verbs.add_parser(run.__name__.removesuffix("_verb"), help=run.__doc__, description=run.__doc__)
        add.set_defaults(run=run)
        add.add_argument("--environment", metavar="ID", help="default: the only one present")
        add.add_argument("--config", metavar="FILE", help="default: the environment's config.toml")
        add.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
        add.add_argument("--agent", metavar="FILE", **(agent or {"default": DEFAULT_AGENT}))  # type: ignore[arg-type]
        return add.add_argument

    add = verb(train_verb)
    add("--seed", type=seed, default=1)
    add("--seeds", type=lambda text: [seed(n) for n in text.split(",")], metavar="N,N,...", help="--agent is a folder")
    add("--budget-factor", type=factor, default=1.0, metavar="X", help="multiplies the updates")
    add("--chunks", type=count, metavar="N", help="stop after N chunks and write no agent")
    add("--json", action="store_true", help="one JSON document on stdout")
    add = verb(evaluate_verb, dest="agents", action="append", help="may be repeated")
    add("--seed", type=seed, default=1)
    add("--key", metavar="HEX64", help="32-byte seed of the episodes, in place of --seed")
    add("--episodes", type=count, default=256)
    add("--random", action="store_true", help="uniform actions instead of an agent")
    add("--served", action="store_true", help="actions as the agent server computes them")
    add("--json", action="store_true", help="one JSON document on stdout")
    add = verb(serve_verb)
    add("--port", type=port, required=True)
    add("--host", default="0.0.0.0")
    add = verb(render_verb)
    add("--episode-seed", type=seed, default=1)
    add("--out", default="episode.gif", metavar="FILE")
    return root


def main() -> int:
    """Runs one verb; returns the exit code."""
    arguments = parser().parse_args()
    configure(arguments)
    from .agents.checkpoint import InvalidAgent
    from .agents.train import Diverged, InvalidConfig

    codes = {UsageError: 2, InvalidConfig: 2, InvalidAgent: 3, Diverged: 4}
    try:
        arguments.run(arguments)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        say(f"{arguments.verb}: {error}")
        return next((code for kind, code in codes.items() if isinstance(error, kind)), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
