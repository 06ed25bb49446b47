"""One state: how much each group of entries matters to what the networks say there, or to the return."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import jax
import numpy as np

from attribution import coalitions, gradients, masking
from attribution.rank import ranks
from sal import layout, sverl
from sal.networks import Networks, readout
from sal.visits import Visits, visits
from sal.ways import Question
from xrl_common.estimates import EPISODES, Estimate, nonfinite
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.states import Selected, select
from xrl_common.tables import Cell, Column, number, table

METHODS = ("perturb", "shap", "sverl", "ig")
SCOPES = ("local", "global")
OUTPUTS = ("action", "value")


@dataclass(frozen=True)
class Result:
    """The scores of the groups of one state."""

    phi: np.ndarray
    """(n,)."""
    errors: np.ndarray | None
    """(n,); none where nothing was drawn."""
    word: str
    """What was done, for the header."""
    estimator: str
    ends: tuple[float, float] | None
    """v(all) and v(none), where the scores add up to their difference."""
    remarks: tuple[str, ...] = ()
    critic: tuple[np.ndarray, np.ndarray] | None = None
    """Scores of V and their errors, where they come along."""
    exact: bool = True

    @property
    def gap(self) -> float:
        """How far the scores are from adding up."""
        return 0.0 if self.ends is None else float(self.phi.sum() - (self.ends[0] - self.ends[1]))


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block per selected state."""
    if wanted.method == "sverl" and (wanted.output != "action" or wanted.head is not None):
        raise usage("--output and --head go with --method shap or ig")
    if wanted.method == "perturb" and (wanted.output != "action" or wanted.head is not None):
        raise usage("--output and --head go with --method shap or ig; perturb tells of both networks")
    if wanted.method != "sverl" and wanted.scope != SCOPES[0]:
        raise usage("--scope goes with --method sverl")
    simulator = settings.simulator
    found = visits(simulator, simulator.episodes(EPISODES))
    networks = Networks(settings.subject)
    return [_block(settings, wanted, selected, found, networks) for selected in select(simulator, wanted)]


def _block(
    settings: Settings, wanted: argparse.Namespace, selected: Selected, found: Visits, networks: Networks
) -> Report:
    subject = settings.subject
    observation = settings.simulator.observe(jax.tree.map(lambda leaf: np.asarray(leaf)[None], selected.state))[0]
    if wanted.method == "perturb":
        result = _perturb(settings, observation, found, networks)
    elif wanted.method == "sverl":
        result = _sverl(settings, selected, observation, found, networks, wanted.scope)
    else:
        result = _outputs(settings, wanted, observation, found, networks)
    return write(settings, selected, observation, result, layout.values(observation, layout.groups(subject)))


def _perturb(settings: Settings, observation: np.ndarray, found: Visits, networks: Networks) -> Result:
    background = found.background
    scores = []
    for entries in layout.slices(settings.subject):
        changes = masking.replaced_changes(networks, observation[None], background, entries)[0]
        scores.append(np.stack([changes[:, :-1].sum(axis=1), changes[:, -1]]))
    drawn = np.stack(scores)
    means, errors = background.average(drawn), background.error(drawn)
    return Result(
        phi=means[:, 0],
        errors=None if background.complete else errors[:, 0],
        word="method perturb",
        estimator=found.word,
        ends=None,
        critic=(means[:, 1], errors[:, 1]),
    )


def _outputs(
    settings: Settings, wanted: argparse.Namespace, observation: np.ndarray, found: Visits, networks: Networks
) -> Result:
    background, groups = found.background, layout.slices(settings.subject)
    usual = background.average(networks(background.observations).T)
    what = readout(settings.simulator, networks, observation, usual, wanted.output, wanted.head)
    if wanted.method == "ig":
        base = background.mean

        def slopes(rows: np.ndarray) -> np.ndarray:
            return networks.gradients(what.weights, rows)

        phi = gradients.by_group(gradients.integrated(slopes, observation, base), groups)
        ends = networks(np.stack([observation, base])) @ what.weights
        word = f"{gradients.POINTS} midpoints from the mean of {found.word.removeprefix('background ')}"
        return Result(phi, None, "method ig", f"F {what.word}  {word}", (float(ends[0]), float(ends[1])), exact=False)
    game = masking.marginal_game(networks, observation, background, groups, what.weights)
    shares = coalitions.attribute(game, len(groups), settings.simulator.generator("permutations"))
    errors = np.hypot(background.error(shares.columns), shares.spread)
    word = "exact" if shares.exact else f"{coalitions.PAIRS} pairs of permutations"
    drawn = not background.complete or not shares.exact
    ends = float(background.average(shares.full)), float(background.average(shares.empty))
    return Result(
        phi=background.average(shares.columns),
        errors=errors if drawn else None,
        word=f"method shap ({word})",
        estimator=f"F {what.word}  {found.word}",
        ends=ends,
        exact=shares.exact,
    )


def _sverl(
    settings: Settings, selected: Selected, observation: np.ndarray, found: Visits, networks: Networks, scope: str
) -> Result:
    question = Question(settings, networks, found, layout.slices(settings.subject), selected.state, observation)
    worth = sverl.worth(question, scope == "global")
    return Result(
        phi=worth.mean,
        errors=worth.errors if worth.errors.any() else None,
        word=f"method sverl {scope}",
        estimator=f"{question.occupancy}  {worth.word}",
        ends=worth.ends,
        remarks=worth.remarks,
        exact=worth.exact,
    )


def write(settings: Settings, selected: Selected, observation: np.ndarray, result: Result, values: list[str]) -> Report:
    """The header, the table of groups, and the last line."""
    subject = settings.subject
    names = [group.name for group in layout.groups(subject)]
    odd = nonfinite(result.phi)
    told = () if result.exact or result.ends is None else (f"gap {number(result.gap)}",)
    lines = layout.head(
        settings,
        (f"state {settings.place(selected)}", result.word),
        result.estimator,
        odd,
        (*told, *result.remarks),
    )
    order = ranks(result.phi)
    heading = "phi" if result.ends is not None else "S actor"
    columns = [layout.texts("value", values), Column(heading, _cells(result.phi, result.errors))]
    if result.critic is not None:
        scores, errors = result.critic
        columns.append(Column("S critic", _cells(scores, None if result.errors is None else errors)))
    columns.append(Column("rank", [str(place) for place in order]))
    lines += table(Column("group", names), columns)
    numbers = {
        "state": subject.state_to_json(selected.state),
        "origin": selected.origin,
        "method": result.word.removeprefix("method "),
        "estimator": result.estimator,
        "groups": names,
        "observation": observation,
        "phi": result.phi,
        "errors": result.errors,
        "rank": order,
        "remarks": result.remarks,
    }
    if result.critic is not None:
        numbers |= {"critic": result.critic[0], "critic_errors": result.critic[1]}
    if result.ends is not None:
        full, empty = result.ends
        total = float(result.phi.sum())
        lines.append(f"sum phi {number(total)}   v(all) - v(none) {number(full - empty)}   gap {number(result.gap)}")
        numbers |= {"sum": total, "all": full, "none": empty, "gap": result.gap}
    return Report(lines, numbers)


def _cells(scores: np.ndarray, errors: np.ndarray | None) -> list[Cell]:
    if errors is None:
        return [float(score) for score in scores]
    return [Estimate(float(score), float(error)) for score, error in zip(scores, errors, strict=True)]
