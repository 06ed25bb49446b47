"""The scorer process: one JSON request per line on stdin, one JSON result per line on stdout."""

import json
import sys
from typing import Any

from ..core import runtime


def answer(document: Any) -> dict[str, Any]:
    """Answers one request; whatever fails on this side is a `scorer_failed`."""
    from . import driver

    try:
        if set(document) == {"warm"}:
            return driver.warm(**document["warm"])
        if set(document) == {"self_drive"}:
            return driver.self_drive(**document["self_drive"])
        return driver.score(driver.read_request(document))
    except Exception as error:
        return {"status": "scorer_failed", "reason": f"{type(error).__name__}: {error}"[:200]}


def main() -> int:
    """Serves requests until stdin ends."""
    runtime.prepare()
    import jax

    jax.config.update("jax_platforms", "cpu")
    from . import driver

    def say(document: dict[str, Any]) -> None:
        print(json.dumps(document, allow_nan=False), flush=True)

    say({"ready": True, "versions": driver.versions()})
    for line in sys.stdin:
        try:
            document = json.loads(line)
        except ValueError as error:
            say({"status": "scorer_failed", "reason": f"request is not JSON: {error}"[:200]})
        else:
            say(answer(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
