"""What hfcount calls good loads whole in transformers, however a checkpoint was spoilt; what transformers saves is good.

Each type has one checkpoint, spoilt in a few of all ways, so that every way has many types; `python tests/mutations.py`
draws more.
"""

from pathlib import Path
from random import Random

import pytest
from loopback import Hub

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
pytest.importorskip("torch", reason=_EXTRA)
pytest.importorskip("transformers", reason=_EXTRA)

from mutations import Judge, swept  # noqa: E402 - they need what may not be there
from spoils import KINDS  # noqa: E402
from tiny import RECORDED  # noqa: E402

TYPES = list(RECORDED)
EACH = 7
"""Ways in which each type's checkpoint is spoilt."""


@pytest.fixture
def judge(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    return Judge(tmp_path, hub, ("auto", "index", "hub"))


def chosen(name: str) -> list[str]:
    """The ways for a type: each in its turn."""
    first = TYPES.index(name) * EACH
    return [list(KINDS)[number % len(KINDS)] for number in range(first, first + EACH)]


@pytest.mark.parametrize("name", TYPES)
def test_green_means_that_it_loads_whole(name: str, judge: Judge) -> None:
    kinds = {kind: KINDS[kind] for kind in chosen(name)}
    faults = list(swept(name, judge, Random(name), kinds, odds=1))
    assert [str(fault) for fault in faults] == []
