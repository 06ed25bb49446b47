"""One recorded episode as numbered text, and the names that queries may use."""

from __future__ import annotations

import argparse

from axis import names
from axis.asking import Asking
from interrogation import verbalise
from xrl_common import actions
from xrl_common.estimates import nonfinite
from xrl_common.features import key_features
from xrl_common.report import Report, Settings


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The episode, in one block."""
    asking = Asking(settings, wanted)
    whole = asking.whole
    time = None if wanted.time is None else asking.at(wanted.time)
    lines = asking.head(
        [f"steps {whole.length}", *([] if time is None else [f"around step {time}"])], odd=nonfinite(whole.rewards)
    )
    told = verbalised(asking, wanted.every, time)
    listed = names.lines(settings.subject, whole.state(0), whole.length)
    runs = verbalise.macro_actions(settings.subject, whole, True)
    return [
        Report(
            [*lines, *told, "", *listed],
            {
                "episode": asking.episode,
                "steps": whole.length,
                "state": settings.subject.state_to_json(whole.state(0 if time is None else time)),
                "lines": [{"first": run.first, "last": run.last, "action": name} for run, name in runs],
                "course": asking.numbers(whole),
                "things": names.document(settings.subject, whole.state(0)),
            },
        )
    ]


def verbalised(asking: Asking, every: int, time: int | None = None) -> list[str]:
    """The numbered lines."""
    settings, trace = asking.settings, asking.trace
    seen, taken = trace.observations[trace.alive], trace.actions[trace.alive]
    keys = key_features(seen, taken, actions.kind(settings.subject), names=settings.subject.obs_names)
    return verbalise.episode(
        settings.subject, settings.simulator.components, asking.whole, keys, asking.complexity, every, time
    )
