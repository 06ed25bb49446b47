"""Other agents for the same environment: from a file, or with the last layer of the policy drawn anew."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from xrl_common.failure import unreadable
from xrl_common.subject import Subject


def of_file(subject: Subject, path: str) -> Subject:
    """The subject with the agent of a file, relative to the caller's directory."""
    from evalxrl_envs.agents import checkpoint

    try:
        agent = checkpoint.read_agent(os.path.relpath(Path(path)), subject.environment)
    except checkpoint.InvalidAgent as problem:
        raise unreadable(str(problem)) from problem
    return _acting(subject, (agent.parameters, agent.moments))


def with_new_last_layer(subject: Subject, generator: np.random.Generator) -> Subject:
    """The subject with the last layer of its policy drawn as at the start of training; all else stays."""
    from evalxrl_envs.agents import networks

    parameters, moments = subject.policy.agent
    fresh = networks.initial_parameters(generator, subject.environment)
    layers = {int(name.split("/")[1]) for name in fresh if name.startswith("policy/") and name.endswith("/w")}
    last = f"policy/{max(layers)}/"
    drawn = {name: fresh[name] if name.startswith(last) else array for name, array in parameters.items()}
    return _acting(subject, (drawn, moments))


def _acting(subject: Subject, agent: tuple) -> Subject:
    return replace(subject, policy=replace(subject.policy, agent=agent))
