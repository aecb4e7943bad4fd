"""What hfcount calls good loads whole in transformers, however it was spoilt; and what transformers saves is good.

Each type has a small checkpoint, spoilt in a few of all ways; `python tests/support/mutations.py` draws more.
"""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from loopback import Hub

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
pytest.importorskip("torch", reason=_EXTRA)
pytest.importorskip("transformers", reason=_EXTRA)

from judge import WAYS, Judge, Subject, differences  # noqa: E402 - needs torch, which may not be there
from mutations import odds, plain, spoilt  # noqa: E402 - needs torch, which may not be there
from spoils import KINDS, Spoil, untold  # noqa: E402 - needs torch, which may not be there
from tiny import RECORDED  # noqa: E402 - needs torch, which may not be there

EACH = 3
"""Ways in which the checkpoint of each type is spoilt."""


def chosen(name: str) -> list[str]:
    return Random(name).sample(list(KINDS), EACH)


@pytest.fixture
def judge(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    return Judge(tmp_path, hub)


@pytest.mark.parametrize("name", RECORDED)
def test_green_means_that_it_loads_whole(name: str, judge: Judge) -> None:
    rng = Random(name)
    judge.ways = (rng.choice(WAYS),)
    faults = [*spoilt(name, chosen(name), judge, rng), *(odds(name, judge, rng) if rng.random() < 0.5 else ())]
    assert [str(fault) for fault in faults] == []


def test_every_way_is_tried_with_several_types() -> None:
    times = Counter(kind for name in RECORDED for kind in chosen(name))
    assert min(times[kind] for kind in KINDS) >= 5


@pytest.mark.parametrize("spoil", untold.KINDS, ids=lambda spoil: spoil.__name__)
def test_what_no_look_at_names_shapes_and_sizes_tells(spoil: Spoil, judge: Judge) -> None:
    """Each has its reason in spoils/untold.py; whoever learns to tell one takes it out of there."""
    judge.ways = ("headers",)
    for name in ("llama", "gpt2", "bert", "t5", "mixtral", "vit"):
        rng = Random(name)
        checkpoint = plain(name, rng)
        assert checkpoint is not None
        copy = checkpoint.copy()
        if spoil(copy, rng) is not None:
            good, found = judge.look(copy, ask=True)
            assert good and found and differences(found, Subject(name, checkpoint, judge).right)
