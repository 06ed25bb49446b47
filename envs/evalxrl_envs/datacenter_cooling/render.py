"""Datacenter cooling as text and as a picture."""

from typing import Any

import numpy as np

from .environment import RACKS, UNITS, DatacenterCooling, Params, State, hour

WIDTH, HEIGHT, PITCH = 244, 204, 40
FLOOR, PANEL, INK = (np.array(c, np.uint8) for c in ((22, 27, 34), (38, 45, 56), (230, 237, 243)))
DEAR, CHEAP, FAN, COOL, LIGHT = (
    np.array(c, np.uint8) for c in ((222, 150, 40), (52, 96, 80), (170, 178, 190), (80, 170, 230), (120, 220, 130))
)
ALARM = np.array((255, 60, 60), np.uint8)
STOPS = np.array([(40, 80, 200), (60, 190, 190), (240, 210, 80), (230, 110, 40), (200, 20, 40)], float)
FIGURES = "75557 26227 71747 71717 55711 74717 74757 71111 75757 75717 00700".split()
GLYPHS = dict(zip("0123456789-", FIGURES, strict=True))


def colour(degrees: float) -> np.ndarray:
    """One of 49 colours from blue at 10 degrees over yellow at 25 to red at 40."""
    place = round(float(np.clip((degrees - 10) / 30, 0, 1)) * 48) / 12
    return np.array([np.interp(place, range(5), stop) for stop in STOPS.T], np.uint8)


def _box(frame: np.ndarray, x: float, y: float, width: float, height: float, paint: np.ndarray) -> None:
    frame[round(y) : round(y + height), round(x) : round(x + width)] = paint


def _number(frame: np.ndarray, x: int, y: int, value: float) -> None:
    """Writes a whole number in digits of 6 by 10 pixels."""
    for i, sign in enumerate(f"{value:.0f}"):
        dots = np.array([[int(row) >> bit & 1 for bit in (2, 1, 0)] for row in GLYPHS[sign]], bool)
        frame[y : y + 10, x + 8 * i : x + 8 * i + 6][dots.repeat(2, 0).repeat(2, 1)] = INK


def render_text(state: State, params: Params) -> str:
    """A line that says when and in what weather, then racks and units; `!` marks a rack over the limit."""
    world, (hours, minutes) = DatacenterCooling().exogenous(state, params), divmod(round(float(hour(state)) * 60), 60)
    marks = ["!" if rack > params.limit else " " for rack in state.rack]

    def row(name: str, values: Any, form: str, ends: list[str]) -> str:
        return f"{name:8}" + "".join(f"{float(v):{form}}{end}" for v, end in zip(values, ends, strict=True))

    spaces = [" "] * RACKS
    return "\n".join(
        [
            f"t {int(state.t)}  {hours:02}:{minutes:02}  price {float(world.price):.1f}  "
            f"outside {float(world.outside):.1f}  room {float(state.room):.1f}",
            row("rack C", state.rack, "7.1f", marks),
            row("load", world.load, "7.2f", spaces),
            row("supply C", state.supply, "15.1f", spaces[:UNITS]),
            row("fan", state.fan, "15.2f", spaces[:UNITS]),
            row("cool", state.cool, "15.2f", spaces[:UNITS]),
        ]
    )


def render_rgb(state: State, params: Params) -> np.ndarray:
    """The machine room as uint8 (204, 244, 3).

    On top the outdoor temperature, the day with its dear hours and the time, and the temperature of the room. Below,
    six racks in the colour of their temperature, with a thermometer (ticks at limit and alarm), lights for the load
    and the degrees in figures. At the bottom three units: fan duty, cooling duty, and the air that they supply.
    """
    frame = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    frame[:] = FLOOR
    world, now = DatacenterCooling().exogenous(state, params), float(hour(state))
    for x, degrees in ((4, world.outside), (WIDTH - 32, state.room)):
        _box(frame, x, 4, 28, 26, colour(float(degrees)))
        _box(frame, x + 3, 9, 22, 16, FLOOR)
        _number(frame, x + 5, 12, float(degrees))
    _box(frame, 38, 8, 168, 18, CHEAP)
    _box(frame, 38 + 7 * float(params.peak_start), 8, 7 * float(params.peak_end - params.peak_start), 18, DEAR)
    _box(frame, 38 + 7 * now - 1, 4, 3, 26, INK)
    for i in range(RACKS):
        x, degrees = 4 + PITCH * i, float(state.rack[i])
        _box(frame, x, 36, 36, 104, PANEL)
        _box(frame, x + 3, 39, 20, 82, colour(degrees))
        for light in range(10):
            _box(frame, x + 6, 112 - 8 * light, 14, 5, LIGHT if light < round(10 * float(world.load[i])) else FLOOR)
        _box(frame, x + 26, 39, 7, 82, FLOOR)
        height = 82 * float(np.clip((degrees - 15) / 25, 0, 1))
        _box(frame, x + 26, 121 - height, 7, height, colour(degrees))
        for mark, paint in ((params.limit, DEAR), (params.alarm, ALARM)):
            _box(frame, x + 24, 121 - 82 * (float(mark) - 15) / 25, 11, 1, paint)
        _number(frame, x + 6, 126, degrees)
    for j in range(UNITS):
        x = 4 + 2 * PITCH * j
        _box(frame, x, 144, 76, 56, PANEL)
        _box(frame, x + 44, 150, 28, 44, colour(float(state.supply[j])))
        _number(frame, x + 51, 167, float(state.supply[j]))
        for y, duty, paint in ((150, state.fan[j], FAN), (174, state.cool[j], COOL)):
            _box(frame, x + 4, y, 36, 20, FLOOR)
            _box(frame, x + 4, y, 36 * float(duty), 20, paint)
    return frame
