"""The nearest flipping value of a feature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deviation.flip import PRECISION, Flip, nearest_flips

LOW, HIGH = np.array([-1.0, -2.0]), np.array([1.0, 2.0])


def one_feature(value: float, differs) -> Flip | None:  # noqa: ANN001
    """Feature 0 of two; the other one does not matter."""
    flip, other = nearest_flips(np.array([value, 0.0], np.float32), LOW, HIGH, lambda batch: differs(batch[:, 0]))
    assert other is None
    return flip


def test_a_threshold_is_found_to_a_ten_thousandth_of_the_range() -> None:
    flip = one_feature(-0.5, lambda x: x > 0.3)
    assert flip is not None
    assert 0.3 < flip.flipped <= 0.3 + 2 * PRECISION
    assert flip.share == pytest.approx(0.4, abs=PRECISION)


def test_the_nearer_of_two_sides_is_taken() -> None:
    assert one_feature(0.0, lambda x: (x < -0.2) | (x > 0.5)).flipped == pytest.approx(-0.2, abs=3e-4)
    assert one_feature(0.2, lambda x: (x < -0.2) | (x > 0.5)).flipped == pytest.approx(0.5, abs=3e-4)


def test_a_feature_that_never_flips_or_never_varies_has_none() -> None:
    assert one_feature(0.0, lambda x: x > 1.0) is None
    value = np.array([0.5], np.float32)
    assert nearest_flips(value, value, value, lambda batch: np.ones(len(batch), bool)) == [None]


def test_the_range_is_stretched_to_hold_the_value() -> None:
    flip = one_feature(3.0, lambda x: x < 0.9)
    assert flip.range == pytest.approx(4.0)
    assert flip.flipped == pytest.approx(0.9, abs=5e-4)


@settings(max_examples=200, deadline=None)
@given(st.floats(-1, 1, width=32), st.lists(st.floats(-1, 1), min_size=1, max_size=6).map(sorted))
def test_the_value_flips_and_the_one_two_precisions_nearer_does_not(value: float, edges: list[float]) -> None:
    def band(x: np.ndarray) -> np.ndarray:
        return np.searchsorted(edges, x.astype(np.float64)) % 2

    def differs(x: np.ndarray) -> np.ndarray:
        return band(x) != band(np.array([value], np.float32))

    flip = one_feature(value, differs)
    if flip is not None:
        step = 2 * PRECISION * flip.range
        nearer = value if abs(flip.flipped - value) <= step else flip.flipped - np.sign(flip.flipped - value) * step
        assert differs(np.array([flip.flipped], np.float32))[0]
        assert not differs(np.array([nearer], np.float32))[0]
