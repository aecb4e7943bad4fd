"""Which size is proposed where sizes of a config do not go together, and how many are tried."""

from typing import Any

from hfcount.verifier.causes.contradictions import cure
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Outcome
from hfcount.verifier.rules.hf103_inconsistent_config import InconsistentConfig

FINDING: Finding = InconsistentConfig(key="hidden_size", statement="hidden_size is no multiple of heads.")


def _tried(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The changes that are tried, of which none fits."""
    asked: list[dict[str, Any]] = []

    def tried(more: Any) -> Outcome | None:
        asked.append(dict(more))
        return None

    assert cure("not-divisible", values, FINDING, tried) is None
    return asked


def test_numbers_that_may_divide_a_size_are_tried_one_by_one() -> None:
    values = {"hidden_size": 9, "num_attention_heads": 4, "num_groups": 2, "num_hidden_layers": 2}
    assert _tried(values) == [{"num_attention_heads": 1}, {"num_groups": 1}]


def test_a_config_of_very_many_such_keys_costs_no_more() -> None:
    values = {"hidden_size": 9, **{f"heads_{number}": 2 for number in range(5_000)}}
    assert len(_tried(values)) == 32
