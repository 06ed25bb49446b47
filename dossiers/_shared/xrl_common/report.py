"""One block of a tool's output: its header, its tables, and the same in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xrl_common import arguments, tables
from xrl_common.simulation import Simulator
from xrl_common.states import Selected
from xrl_common.subject import Subject

CHEAP = 5000
"""Numbers per episode up to which nothing is scaled down; a dearer environment gets fewer rollouts."""

LEAST_SHARE = 1 / 16


@dataclass(frozen=True)
class Settings:
    """What the arguments fix for a run of a tool."""

    tool: str
    simulator: Simulator
    gamma: float
    gamma_source: str
    budget: str = "normal"

    @property
    def subject(self) -> Subject:
        """The environment and its agent."""
        return self.simulator.subject

    @property
    def share(self) -> float:
        """Share of the default counts that this environment gets, a power of two from 1 down to 1/16."""
        share = 1.0
        while share > LEAST_SHARE and self.subject.effort * share > CHEAP:
            share /= 2
        return share

    def count(self, default: int, least: int = 1) -> int:
        """A number of rollouts, episodes or samples after `--budget` and the cost of this environment."""
        return max(round(arguments.SCALES[self.budget] * self.share * default), least)

    @property
    def seed(self) -> int:
        """The seed of all draws."""
        return self.simulator.seed

    @property
    def numbers(self) -> dict[str, Any]:
        """What the header says, for the JSON document."""
        return {
            "tool": self.tool,
            "environment": self.simulator.subject.name,
            "policy": self.simulator.acting.word,
            "gamma": self.gamma,
            "gamma_source": self.gamma_source,
            "seed": self.seed,
            "remarks": list(self.simulator.subject.remarks),
        }

    def header(
        self,
        estimator: str,
        selected: Selected | None = None,
        nonfinite: int = 0,
        remarks: tuple[str, ...] = (),
    ) -> list[str]:
        """The `# ` lines: tool, environment, state, discount, policy, estimator, then the remarks."""
        subject = self.simulator.subject
        state = [] if selected is None else [f"state {self.place(selected)}"]
        odd = [f"non-finite {nonfinite}"] if nonfinite else []
        fields = [
            self.tool,
            subject.name,
            *state,
            f"gamma {tables.number(self.gamma)} ({self.gamma_source})",
            f"policy {self.simulator.acting.word}",
            f"{estimator} seed {self.seed}",
            *odd,
        ]
        return tables.header(fields, (*remarks, *subject.remarks))

    def place(self, selected: Selected) -> str:
        """A state's label and origin in a few words."""
        label = self.simulator.subject.label(selected.state)
        return f"{label} ({selected.origin})" if selected.origin else label


@dataclass(frozen=True)
class Report:
    """The lines of a block and the numbers behind them."""

    lines: list[str]
    numbers: dict[str, Any] = field(default_factory=dict)
