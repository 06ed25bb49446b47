"""Grammar, what programs do, the compiled player, and the search on planted programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.histories import Histories, act, agreement, distance
from programs.numbers import changed, numbers
from programs.player import Player, arrays
from programs.printing import lines
from programs.program import Constant, Control, Linear, Pid, Program, Rule, Words
from programs.program import Test as Asked
from programs.search import nearest, search
from programs.templates import best, default_sketch
from programs.text import Mistake, parse, write

ONE = Words(("near", "near_wall"), ("own/x", "own/y", "pits/-2+1"), (("up", "down", "left"),), False)
TWO = Words(("near",), ("a", "b"), (("x", "y"), ("p", "q", "r")), False)
BOX = Words(("hot",), ("s", "t"), (("fan",), ("cool",)), True, (-1.0, 0.0), (1.0, 2.0))
NUMBERS = st.floats(-50, 50, allow_nan=False).map(lambda x: round(x, 3))


def actions(words: Words) -> st.SearchStrategy:
    if words.continuous:
        constant = st.tuples(*(st.floats(a, b) for a, b in zip(words.low, words.high, strict=True))).map(Constant)
        axis = st.builds(Control, st.integers(0, len(words.features) - 1), *[NUMBERS] * 5)
        return st.one_of(constant, st.tuples(*[axis] * len(words.actions)).map(Pid))
    constant = st.tuples(*(st.integers(0, size - 1).map(float) for size in words.heads)).map(Constant)
    row = st.lists(st.tuples(st.integers(0, len(words.features) - 1), NUMBERS), max_size=3).map(tuple)
    linear = st.builds(
        Linear,
        st.tuples(*(st.tuples(*[NUMBERS] * size) for size in words.heads)),
        st.tuples(*(st.tuples(*[row] * size) for size in words.heads)),
    )
    return st.one_of(constant, linear)


def programs(words: Words) -> st.SearchStrategy:
    count = len(words.predicates)
    test = st.one_of(
        st.builds(Asked, st.integers(0, count - 1), st.booleans()),
        st.builds(Asked, st.integers(count, count + len(words.features) - 1), st.booleans(), NUMBERS),
    )
    rule = st.builds(Rule, st.lists(test, min_size=1, max_size=4).map(tuple), actions(words))
    return st.builds(Program, st.lists(rule, max_size=4).map(tuple), actions(words))


def histories(words: Words, rows: int = 400, seed: int = 0) -> Histories:
    generator = np.random.default_rng(seed)
    seen = generator.uniform(-3, 3, (rows, len(words.features))).astype(np.float32)
    return Histories(
        truths=generator.integers(0, 2, (rows, len(words.predicates))).astype(float),
        seen=seen,
        before=np.concatenate([seen[:1], seen[:-1]]).astype(float),
        summed=np.cumsum(seen, axis=0, dtype=float),
        count=np.arange(1, rows + 1, dtype=float),
        wanted=np.zeros((rows, len(words.actions))),
    )


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_printed_text_parses_to_the_same_program(data: st.DataObject) -> None:
    words = data.draw(st.sampled_from([ONE, TWO, BOX]))
    program = data.draw(programs(words))
    again = parse(write(program, words), words)
    assert again == program
    assert np.array_equal(act(again, histories(words, 20), words), act(program, histories(words, 20), words))
    assert all(len(line) <= 100 for line in lines(write(program, words)))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_compiled_player_does_what_the_program_does(data: st.DataObject) -> None:
    words = data.draw(st.sampled_from([ONE, TWO, BOX]))
    program = data.draw(programs(words))
    known = histories(words, 60)
    names = sorted(words.predicates, reverse=True)

    def predicates(state: object, params: object) -> dict:
        return {name: state[words.predicates.index(name)] > 0 for name in names}

    player = Player(predicates, words, len(words.actions) == 1)
    memory = (known.before.astype(np.float32), (known.summed - known.seen).astype(np.float32), known.count[:, None] - 1)
    done, _ = player(arrays(program, words), memory, None, known.seen, known.truths, None)
    wanted = act(program, known, words)
    close = np.isclose(np.asarray(done).reshape(wanted.shape), wanted, atol=1e-2, rtol=1e-3)
    assert close.mean() > 0.98  # float32 sums may tip a comparison that is nearly even


@pytest.mark.parametrize(
    ("text", "words", "place"),
    [
        ("", ONE, "line 1 column 1"),
        ("if near: up", ONE, "line 1 column 1: the last line is else"),
        ("if near up\nelse: up", ONE, "line 1 column 9: ':' is wanted"),
        ("if far: up\nelse: up", ONE, "line 1 column 4: a predicate or feature is wanted: near, near_wall"),
        ("if own/x = 3: up\nelse: up", ONE, "line 1 column 10: '<' or '>' is wanted"),
        ("if not own/x: up\nelse: up", ONE, "line 1 column 8: a predicate is wanted"),
        ("else: fly", ONE, "line 1 column 7: a action is wanted: up, down, left"),
        ("else: up up", ONE, "line 1 column 10: the line ends here"),
        ("else: up\nelse: up", ONE, "line 2 column 1: nothing comes after else"),
        ("when near: up", ONE, "line 1 column 1: a line begins with if or else"),
        ("else: 1,5", TWO, "line 1 column 9: a number from 0 to 2 is wanted"),
        ("else: 0.5,1", TWO, "whole numbers are wanted"),
        ("else: argmax(up: 1; up: 2)", ONE, "line 1 column 21: this action stands here already"),
        ("else: argmax(up: 1)", ONE, "action down is missing"),
        ("else: pid(fan: 1 + 2*e, e = s - 1)", BOX, "'+' is wanted"),
        ("else: argmax(fan: 1)", BOX, "argmax needs actions that can be counted"),
        ("else: 3,1", BOX, "a number from -1 to 1 is wanted"),
    ],
)
def test_an_ill_typed_program_is_refused_with_its_place(text: str, words: Words, place: str) -> None:
    with pytest.raises(Mistake) as caught:
        parse(text, words)
    assert place.replace("a action", "a action") in str(caught.value)


def test_the_longest_name_is_read_also_where_signs_are_part_of_it() -> None:
    program = parse("if near_wall and pits/-2+1 > -0.5: left\nelse: down\n", ONE)
    assert program.rules[0].tests == (Asked(1, True), Asked(4, True, -0.5))
    assert program.size == 4


def planted(text: str, words: Words, rows: int = 3000) -> tuple[Program, Histories]:
    program = parse(text, words)
    known = histories(words, rows)
    return program, Histories(**{**vars(known), "wanted": act(program, known, words)})


def test_a_planted_program_of_rules_is_recovered() -> None:
    program, known = planted("if near and own/x < 0.7: up\nif own/y > -1.2: down\nelse: left\n", ONE)
    found = nearest(best("rules", known, ONE), known, ONE, 12, np.random.default_rng(0), "rules")
    assert agreement(found, known, ONE) == 1.0
    fresh = histories(ONE, 4000, seed=9)
    fresh = Histories(**{**vars(fresh), "wanted": act(program, fresh, ONE)})
    assert agreement(found, fresh, ONE) >= 0.99
    bounds = [n.value for n in numbers(found, ONE, np.full(3, 6.0)) if n.name.endswith("own/x")]
    assert any(abs(bound - 0.7) <= 0.02 * 6 for bound in bounds)


def test_a_planted_linear_program_is_recovered() -> None:
    text = "else: argmax(x: 0.5 + 1.0*a; y: -0.5 + -1.0*a) | argmax(p: 0.0 + 1.0*b; q: 0.1 + -1.0*b; r: -9.0)\n"
    _, known = planted(text, TWO)
    found = nearest(best("linear", known, TWO), known, TWO, 12, np.random.default_rng(0), "linear")
    assert agreement(found, known, TWO) >= 0.999


def test_a_planted_controller_is_recovered_to_its_numbers() -> None:
    fan, cool = "0.1 + 0.2*e + 0.0*sum + 0.05*diff, e = s - 0.5", "1.0 + 0.3*e + 0.0*sum + 0.0*diff, e = t - -1.0"
    text = f"else: pid(fan: {fan}; cool: {cool})\n"
    _, known = planted(text, BOX)
    found = nearest(best("pid", known, BOX), known, BOX, 12, np.random.default_rng(0), "pid")
    assert agreement(found, known, BOX) == 1.0
    assert [axis.feature for axis in found.rest.axes] == [0, 1]
    fan, cool = found.rest.axes
    assert fan.kp == pytest.approx(0.2, abs=0.02 * 2 / 6) and cool.kp == pytest.approx(0.3, abs=0.02 * 2 / 6)
    zero = fan.k0 - fan.kp * fan.target
    assert zero == pytest.approx(0.1 - 0.2 * 0.5, abs=0.02 * 2)


def test_the_loop_stops_at_the_first_return_that_does_not_rise() -> None:
    _, known = planted("if near: up\nelse: left\n", ONE, 300)
    asked: list[Program] = []
    values = iter([1.0, 2.0, 3.0, 3.0, 9.0])

    def value(program: Program) -> float:
        asked.append(program)
        return next(values)

    found = search("rules", known, ONE, 12, 30, np.random.default_rng(0), lambda program, i: known, value)
    assert (len(asked), found.iterations, found.value) == (4, 3, 3.0)


def test_every_number_can_be_changed_and_only_that_one_changes() -> None:
    spans = np.full(2, 6.0)
    program = parse(
        "if s > 1.5 and hot: 0.5,1.0\nelse: pid(fan: 0.1 + 0.2*e + 0.0*sum + 0.5*diff, e = s - 0.5; "
        "cool: 1.0 + 0.3*e + 0.0*sum + 0.0*diff, e = t - 1.0)\n",
        BOX,
    )
    known = numbers(program, BOX, spans)
    assert len(known) == 1 + 2 + 10
    for entry in known:
        new = changed(program, entry, 0.75, BOX)
        after = [n.value for n in numbers(new, BOX, spans)]
        assert after == [0.75 if n.name == entry.name else n.value for n in known]


def test_the_default_sketch_goes_by_the_actions() -> None:
    assert [default_sketch(words) for words in (ONE, TWO, BOX)] == ["rules", "linear", "pid"]


def test_distance_is_in_units_of_the_range() -> None:
    known = histories(BOX, 10)
    assert distance(Program((), Constant((0.5, 1.0))), known, BOX) == pytest.approx((0.25**2 + 0.5**2) / 2)
