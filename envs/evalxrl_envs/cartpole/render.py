"""CartPole as text and as a picture."""

import numpy as np

from .environment import Params, State

WIDTH, HEIGHT = 240, 140
TRACK = 106
"""Row of the track, in pixels from the top."""
SCALE = 44.0
"""Pixels per metre along the track."""
REACH = 84.0
"""Pixels of a pole of standard length, longer than to scale so that its lean is seen."""
COLUMNS = 49
"""Characters along the track in text."""

SKY, GROUND, LINE = (238, 232, 213), (214, 206, 181), (147, 161, 161)
CART, WHEEL, POLE, TIP, LIMIT = (38, 139, 210), (7, 54, 66), (181, 137, 0), (203, 75, 22), (220, 50, 47)


def render_text(state: State, params: Params) -> str:
    """Where the pole's tip and the cart are along the track, below a line of numbers."""
    x, theta = float(state.x), float(state.theta)
    half, limit = COLUMNS // 2, float(params.x_limit)
    cart = int(np.clip(round(half * x / limit), -half, half)) + half
    lean = int(np.clip(round(5 * theta / float(params.theta_limit)), -6, 6))
    rows = [[" "] * (COLUMNS + 12) for _ in range(5)]
    for height, row in enumerate(reversed(rows), 1):
        mark = "|" if lean == 0 else "/" if lean > 0 else "\\"
        row[cart + 6 + round(lean * height / len(rows))] = "o" if height == len(rows) else mark
    track = ["-"] * COLUMNS
    track[half] = "+"
    track[cart] = "#"
    head = (
        f"t {int(state.t)}  x {x:+.3f} m  speed {float(state.x_dot):+.3f} m/s  "
        f"angle {np.degrees(theta):+.2f} deg  turning {np.degrees(float(state.theta_dot)):+.1f} deg/s"
    )
    return "\n".join([head, *("".join(row).rstrip() for row in rows), "     [" + "".join(track) + "]"])


def _thick(
    frame: np.ndarray, start: tuple[float, float], end: tuple[float, float], width: float, colour: tuple
) -> None:
    """Paints a line with round ends, from point to point (column, row)."""
    rows, columns = np.ogrid[:HEIGHT, :WIDTH]
    along = np.subtract(end, start)
    share = ((columns - start[0]) * along[0] + (rows - start[1]) * along[1]) / max(float(along @ along), 1e-9)
    share = np.clip(share, 0, 1)
    apart = (columns - start[0] - share * along[0]) ** 2 + (rows - start[1] - share * along[1]) ** 2
    frame[apart <= (width / 2) ** 2] = colour


def _box(frame: np.ndarray, left: float, top: float, right: float, bottom: float, colour: tuple) -> None:
    """Paints a rectangle, cut off at the picture's edges."""
    columns = np.clip([round(left), round(right)], 0, WIDTH)
    frame[round(top) : round(bottom), columns[0] : columns[1]] = colour


def render_rgb(state: State, params: Params) -> np.ndarray:
    """The track with its limits, the cart and the pole, as uint8 (140, 240, 3); a bar below shows the time."""
    frame = np.full((HEIGHT, WIDTH, 3), SKY, np.uint8)
    frame[TRACK:] = GROUND
    frame[TRACK : TRACK + 2] = LINE
    middle, limit = WIDTH / 2, SCALE * float(params.x_limit)
    for metre in range(-2, 3):
        _box(frame, middle + SCALE * metre - 1, TRACK + 2, middle + SCALE * metre + 1, TRACK + 7, LINE)
    for side in (-limit, limit):
        _box(frame, middle + side - 2, TRACK - 16, middle + side + 2, TRACK + 2, LIMIT)
    cart = middle + SCALE * float(state.x)
    _box(frame, cart - 20, TRACK - 20, cart + 20, TRACK - 6, CART)
    for wheel in (-12, 12):
        _thick(frame, (cart + wheel, TRACK - 5), (cart + wheel, TRACK - 5), 10, WHEEL)
    reach, theta = REACH * float(params.length) / 0.5, float(state.theta)
    joint = (cart, TRACK - 18.0)
    top = (cart + reach * float(np.sin(theta)), joint[1] - reach * float(np.cos(theta)))
    _thick(frame, joint, top, 6, POLE)
    _thick(frame, top, top, 9, TIP)
    _thick(frame, joint, joint, 8, WHEEL)
    _box(frame, 8, HEIGHT - 12, WIDTH - 8, HEIGHT - 7, LINE)
    passed = (WIDTH - 16) * min(float(state.t) / float(params.horizon), 1.0)
    _box(frame, 8, HEIGHT - 12, 8 + passed, HEIGHT - 7, CART)
    return frame
