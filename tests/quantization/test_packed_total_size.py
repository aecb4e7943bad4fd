"""Which dtypes make total_size come out exactly where weights are packed, and what the sum says."""

from typing import Any

import pytest

from hfcount.quantization.layout import SCALE_DTYPES
from hfcount.quantization.packing.dtypes_from_total import exact
from hfcount.spec.tree.leaves import Leaf


def leaf(name: str, size: int, dtypes: tuple[str, ...] | None = None, component: Any = "mlp", **changes: Any) -> Leaf:
    made = Leaf(tuple(name.split(".")), (size,), "parameter", component, 1, 1, dtypes=dtypes)
    return made.replace(**changes)


WEIGHT = leaf("a.weight", 1000, ("F8_E4M3",))
SCALES = leaf("a.weight_scale_inv", 10, SCALE_DTYPES)
BIAS = leaf("a.bias", 7)
DENSE = leaf("head.weight", 100, component="lm_head")
STATE = leaf("a.weight.quant_state", 90, ("U8",), slack=7)
AHEAD = leaf("ahead.weight", 50, component="mtp", part="prediction", presence="optional")


@pytest.mark.parametrize(
    ("leaves", "total", "elements", "said"),
    [
        ([WEIGHT, SCALES, DENSE], 1240, {"F8_E4M3": 1000, "BF16": 100, "F32": 10}, "10 × 4 (F32) of scales"),
        ([WEIGHT, SCALES, DENSE], 1220, {"F8_E4M3": 1000, "BF16": 110}, "10 × 2 (BF16) of scales"),
        ([WEIGHT, SCALES, DENSE], 1210, {"F8_E4M3": 1000, "BF16": 100, "F8_E8M0": 10}, "(F8_E8M0) of scales"),
        ([WEIGHT, DENSE], 1400, {"F8_E4M3": 1000, "F32": 100}, "100 × 4 (F32) dense"),
        ([WEIGHT, BIAS, DENSE], 1228, {"F8_E4M3": 1000, "BF16": 100, "F32": 7}, "of biases of packed modules"),
        ([WEIGHT, DENSE, leaf("router.weight", 5, component="router")], 1220, None, "5 × 4 (F32) of router"),
    ],
)
def test_the_dtypes_of_an_exact_sum(leaves: list[Leaf], total: int, elements: dict[str, int] | None, said: str) -> None:
    found = exact(total, [(one, 1) for one in leaves], "BF16")
    assert found
    assert said in found.text
    assert elements is None or found.elements == elements


def test_no_sum_is_exact() -> None:
    assert exact(1241, [(WEIGHT, 1), (SCALES, 1), (DENSE, 1)], "BF16") is None


@pytest.mark.parametrize(("total", "window"), [(1090, 7), (1083, 7), (1082, None), (1091, None)])
def test_contents_that_decide_a_size_leave_a_window(total: int, window: int | None) -> None:
    found = exact(total, [(WEIGHT, 1), (STATE, 1)], "BF16")
    assert (found.window if found else None) == window


def test_prediction_layers_that_were_added_later() -> None:
    found = exact(1200, [(WEIGHT, 1), (DENSE, 1), (AHEAD, 1)], "BF16")
    assert found
    assert "prediction layers" in found.without
