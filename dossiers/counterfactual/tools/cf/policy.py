"""The policy beside the same policy with one rule put on top of it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from cf import layout
from deviation import contrast
from deviation.contrast import Meeting
from deviation.foil import fires, foil
from deviation.rule import FORM, NotARule, Rule, parse
from xrl_common import actions, outcome
from xrl_common.estimates import EPISODES, estimate, nonfinite
from xrl_common.failure import usage
from xrl_common.outcome import Outcome
from xrl_common.report import Report, Settings
from xrl_common.simulation import Simulator, Trace
from xrl_common.tables import Column, number, table

ENDS = 10
"""Outcomes listed."""

END_WIDTH = 56


@dataclass(frozen=True)
class Runs:
    """Episodes of one way of acting, and what holds on their way."""

    trace: Trace
    truth: np.ndarray
    """(runs, steps, predicates)."""
    met: np.ndarray
    """(runs, predicates)."""
    ends: list[Outcome]


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """A comparison, or what a rule could say where none is given."""
    episodes = settings.count(EPISODES, least=4)
    if wanted.rule is None:
        return [listing(settings, episodes)]
    subject = settings.subject
    try:
        rule = parse(wanted.rule, outcome.names(settings.simulator))
    except NotARule as problem:
        raise usage(str(problem)) from problem
    return [compare(settings, rule, actions.parse(subject, rule.action), episodes)]


def runs(simulator: Simulator, episodes: int) -> Runs:
    """Whole episodes from the same resets."""
    trace = simulator.episodes(episodes)
    true, last = (outcome.facts(simulator, states) for states in (trace.states, trace.finals))
    truth = np.stack(list(true.values()), axis=-1)
    met = contrast.met(truth, trace.alive, np.stack(list(last.values()), axis=-1))
    return Runs(trace, truth, met, outcome.outcomes(simulator, trace))


def compare(settings: Settings, rule: Rule, action: np.ndarray, episodes: int) -> Report:
    """Returns of fact and foil, predicates met, outcomes, and the set differences."""
    simulator = settings.simulator
    fact, other = runs(simulator, episodes), runs(foil(simulator, rule, action), episodes)
    names = outcome.names(simulator)
    demands = np.array(rule.demands(names))
    applied = [fires(entry.truth, demands)[entry.trace.alive] for entry in (fact, other)]
    sums = [entry.trace.rewards.sum(axis=1, dtype=np.float64) for entry in (fact, other)]
    odd = nonfinite(*sums)
    met = contrast.meetings(names, fact.met, other.met)
    ends = contrast.endings(*_end_names(fact.ends, other.ends))
    lines = layout.head(settings, (f"episodes {episodes}",), "", odd, _rule_lines(rule, applied))
    lines += [*_returns(simulator, sums), ""]
    lines += [*_meetings("predicate", [row.name for row in met], met), ""]
    lines += _meetings("outcome", [_shortened(row.name) for row in ends[:ENDS]], ends[:ENDS])
    if len(ends) > ENDS:
        lines.append(f"and {len(ends) - ENDS} more outcomes")
    lines.append("")
    apart = {"predicates": contrast.differences(met), "outcomes": contrast.differences(ends)}
    for what, (only_fact, only_foil) in apart.items():
        lines += layout.paragraph(f"{what} of the fact alone", [_shortened(name) for name in only_fact])
        lines += layout.paragraph(f"{what} of the foil alone", [_shortened(name) for name in only_foil])
    return Report(
        lines,
        {
            "rule": str(rule),
            "action": actions.name_of(settings.subject, action),
            "episodes": episodes,
            "nonfinite": odd,
            "applies": {"fact": float(applied[0].mean()), "foil": float(applied[1].mean())},
            "returns": {
                "fact": estimate(sums[0].sum(axis=1)),
                "foil": estimate(sums[1].sum(axis=1)),
                "difference": estimate((sums[1] - sums[0]).sum(axis=1)),
            },
            "components": {
                name: {
                    "fact": estimate(sums[0][:, c]),
                    "foil": estimate(sums[1][:, c]),
                    "difference": estimate(sums[1][:, c] - sums[0][:, c]),
                }
                for c, name in enumerate(simulator.components)
            },
            "predicates": met,
            "outcomes": ends,
            "differences": {what: {"fact": pair[0], "foil": pair[1]} for what, pair in apart.items()},
        },
    )


def listing(settings: Settings, episodes: int) -> Report:
    """The predicates and actions that a rule may name, and how often each predicate holds."""
    simulator, subject = settings.simulator, settings.subject
    fact = runs(simulator, episodes)
    names = outcome.names(simulator)
    shares = fact.truth[fact.trace.alive].mean(axis=0)
    counts = fact.met.sum(axis=0)
    lines = layout.head(
        settings, (f"episodes {episodes}",), "", 0, (f"a rule is {FORM!r}; 'not' may precede a predicate",)
    )
    lines += table(
        Column("predicate", list(names)),
        [
            Column("share of steps", [float(share) for share in shares]),
            Column("runs", [str(count) for count in counts]),
        ],
    )
    lines += layout.paragraph("actions", _actions(settings))
    rows = {name: {"share": shares[c], "runs": counts[c]} for c, name in enumerate(names)}
    return Report(lines, {"episodes": episodes, "predicates": rows, "action_names": subject.action_names})


def _actions(settings: Settings) -> list[str]:
    subject = settings.subject
    what = actions.kind(subject)
    if what is actions.Kind.DISCRETE:
        return [actions.short(name) for name in subject.action_names[0]]
    if what is actions.Kind.MULTI_DISCRETE:
        sizes = actions.heads(subject)
        return [f"{len(sizes)} whole numbers joined by commas, each below {' '.join(map(str, sizes))}"]
    low, high = actions.bounds(subject)
    limits = zip(subject.action_names, low, high, strict=True)
    return [f"{len(low)} numbers joined by commas", *(f"{name} {number(a)}..{number(b)}" for (name,), a, b in limits)]


def _rule_lines(rule: Rule, applied: list[np.ndarray]) -> tuple[str, ...]:
    share = [number(float(steps.mean())) for steps in applied]
    text = layout.few([str(rule)], 90)
    return (
        f"rule {text[:90]}",
        f"it applies in {share[0]} of the steps of the fact, in {share[1]} of those of the foil",
    )


def _returns(simulator: Simulator, sums: list[np.ndarray]) -> list[str]:
    fact, other = (np.concatenate([part, part.sum(axis=1, keepdims=True)], axis=1) for part in sums)
    columns = range(fact.shape[1])
    return table(
        Column("component", [*simulator.components, "return"]),
        [
            Column("fact", [estimate(fact[:, c]) for c in columns]),
            Column("foil", [estimate(other[:, c]) for c in columns]),
            Column("foil - fact", [estimate(other[:, c] - fact[:, c]) for c in columns]),
        ],
    )


def _meetings(heading: str, names: list[str], rows: list[Meeting]) -> list[str]:
    return table(
        Column(heading, names),
        [
            Column("fact", [str(row.fact) for row in rows]),
            Column("foil", [str(row.foil) for row in rows]),
            Column("only fact", [str(row.only_fact) for row in rows]),
            Column("only foil", [str(row.only_foil) for row in rows]),
        ],
    )


def _end_names(fact: list[Outcome], other: list[Outcome]) -> tuple[list[str], list[str]]:
    """How the run ended, the components of its last step that not every run has there, and what holds."""
    everywhere = set.intersection(*(set(end.components) for end in [*fact, *other]))

    def name(end: Outcome) -> str:
        parts = [part for part in end.components if part not in everywhere]
        return " ".join([end.how, *([f"[{','.join(parts)}]"] if parts else []), ",".join(end.predicates)]).strip()

    return [name(end) for end in fact], [name(end) for end in other]


def _shortened(text: str) -> str:
    return text if len(text) <= END_WIDTH else text[: END_WIDTH - 3] + "..."
