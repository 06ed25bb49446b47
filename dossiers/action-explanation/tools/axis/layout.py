"""Headers of the tools that look at dialogues."""

from __future__ import annotations

from interrogation.protocol import ROUNDS
from interrogation.record import Book
from xrl_common import tables
from xrl_common.report import Settings
from xrl_common.tables import number


def head(settings: Settings, book: Book) -> list[str]:
    """The `# ` lines: tool, environment, dialogue and rounds, discount, policy and seed."""
    return tables.header(
        [
            settings.tool,
            settings.subject.name,
            f"dialogue {len(book)}",
            f"rounds used {len(book[-1].rounds)} of {ROUNDS}",
            f"gamma {number(settings.gamma)} ({settings.gamma_source})",
            f"policy {settings.simulator.acting.word}",
            f"seed {settings.seed}",
        ],
        settings.subject.remarks,
    )
