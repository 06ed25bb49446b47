"""Traffic lights as text and as a picture: north is up, cars keep right and queue before their light."""

import numpy as np

from .environment import GREEN, Params, State, TrafficLights

PLACES = ("northwest", "northeast", "southwest", "southeast")
PHASES = ("north_south_through", "north_south_left", "east_west_through", "east_west_left")
SIDES = ("north", "east", "south", "west")

GRASS, ROAD, LINE, CAR, LONG, COMING = (
    np.array(colour, np.uint8)
    for colour in ((214, 226, 202), (88, 94, 101), (214, 214, 206), (246, 246, 240), (244, 109, 67), (116, 173, 235))
)
LIGHTS = {"stop": (215, 48, 39), "amber": (255, 186, 8), "go": (26, 152, 80)}
BLOCK, LANE, CAR_LENGTH, STRIP = 160, 9, 3, 16
"""Pixels: side of the square of an intersection, width of a lane, car with its gap, height of the strip below."""


def _light(state: State, place: int, side: int, lane: int) -> str:
    """What a lane's light shows."""
    if not GREEN[int(state.phase[place]), side, lane]:
        return "stop"
    return "amber" if state.amber[place] > 0 else "go"


def _tide(state: State, params: Params) -> float:
    return float(TrafficLights().exogenous(state, params).tide)


def render_text(state: State, params: Params) -> str:
    """Time and tide, then per intersection its signal, and per approach what queues and what comes."""
    demand = f"tide {_tide(state, params):+.2f}  level {float(state.level):.2f}"
    lines = [f"t {int(state.t)} of {int(params.horizon)}  {demand}"]
    for i, place in enumerate(PLACES):
        age, amber = int(state.age[i]), int(state.amber[i])
        lines.append(f"{place}  {PHASES[int(state.phase[i])]}  age {age}  amber {amber}")
        for a, side in enumerate(SIDES):
            through, left = (f"{float(state.queue[i, a, n]):5.1f} {_light(state, i, a, n):5}" for n in range(2))
            near, far = (float(state.moving[step, 4 * i + a]) for step in range(2))
            lines.append(f"  {side:5}  through {through}  left {left}  coming {near:.1f} {far:.1f}")
    return "\n".join(lines)


def _arm(state: State, params: Params, place: int, side: int) -> np.ndarray:
    """One arm as if it led north: two lanes towards the crossing on the left, two empty ones away from it."""
    length = BLOCK // 2 - 2 * LANE
    arm = np.full((length, 4 * LANE, 3), ROAD)
    arm[:, 2 * LANE - 1 : 2 * LANE + 1] = LINE
    gaps = np.arange(length) % CAR_LENGTH == CAR_LENGTH - 1
    for lane in range(2):
        across = slice(lane * LANE + 2, (lane + 1) * LANE - 2)
        cars = float(state.queue[place, side, lane])
        behind = np.arange(length - 3) / CAR_LENGTH  # cars that stand before a pixel, counted from the light
        rows = np.flatnonzero((behind < cars) & ~gaps[3:])
        arm[length - 4 - rows, across] = CAR
        arm[length - 4 - rows[behind[rows] >= float(params.long_queue)], across] = LONG
        arm[-3:, lane * LANE + 1 : (lane + 1) * LANE - 1] = LIGHTS[_light(state, place, side, lane)]
    for step, edge in ((1, 0), (0, 3 * CAR_LENGTH)):
        end = edge + round(CAR_LENGTH * min(float(state.moving[step, 4 * place + side]), 2.5))
        arm[edge:end, LANE - 2 : LANE + 2] = COMING
    return arm


def _intersection(state: State, params: Params, place: int) -> np.ndarray:
    """One intersection with its four arms; each is drawn north and turned."""
    square, start = np.full((BLOCK, BLOCK, 3), GRASS), BLOCK // 2 - 2 * LANE
    square[start:-start, start:-start] = ROAD
    for side in range(4):
        turned = np.rot90(square, side)
        turned[:start, start:-start] = _arm(state, params, place, side)
    return square


def render_rgb(state: State, params: Params) -> np.ndarray:
    """The square as uint8 (336, 320, 3); the strip below shows time, and the tide, right if north-south leads."""
    squares = [_intersection(state, params, place) for place in range(4)]
    strip = np.full((STRIP, 2 * BLOCK, 3), LINE)
    strip[2:7, : round(2 * BLOCK * int(state.t) / int(params.horizon))] = ROAD
    ends = sorted((BLOCK, BLOCK + round(BLOCK * float(np.clip(_tide(state, params), -1, 1)))))
    strip[9:14, ends[0] : ends[1]] = COMING
    strip[8:15, BLOCK - 1 : BLOCK + 1] = ROAD
    return np.vstack([np.hstack(squares[:2]), np.hstack(squares[2:]), strip])
