"""Ties and rotary positions as recorded, and as families judge them, against what transformers makes of a config."""

import json
from copy import deepcopy
from typing import Any

import pytest
from build import Json
from paths import ARCHITECTURES

import hfcount

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)

from readers import FILE, TEXT, TIE, moved, newer  # noqa: E402 - needs transformers, which may not be there

# Every way in which a class takes what text_config says: not, as well, or alone; tied by default or not; never.
TYPES = (
    "blip cosmos3_edge gemma3 hyperclovax_vision_v2 idefics3 llama4 llava llava_next muse_glimmer paddleocr_vl"
    " pix2struct qwen3_vl vibevoice_asr"
).split()


def _config(name: str, top: bool | None, inner: bool | None) -> Json:
    values: Json = deepcopy(json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"])
    generating = [one for one in _classes(name) if one.endswith("ForConditionalGeneration")]
    values["architectures"] = generating[:1] or values["architectures"]
    for place, said in ((values, top), (values[TEXT], inner)):
        place.pop(TIE, None)
        if said is not None:
            place[TIE] = said
    return values


def _classes(name: str) -> tuple[str, ...]:
    from tiny import classes

    return classes(name)


def _tied(values: Json) -> bool:
    from tiny import class_of, parsed

    with torch.device("meta"):
        model = class_of(values)._from_config(parsed(values))
    return any("embed" not in name for name in model.all_tied_weights_keys)


@pytest.mark.parametrize("name", TYPES)
def test_a_tie_at_one_level_is_judged_as_transformers_judges_it(name: str) -> None:
    for top, inner in ((None, True), (None, False), (False, True), (True, False)):
        values = _config(name, top, inner)
        assert (hfcount.blueprint(values).spec.tied, top, inner) == (_tied(values), top, inner)


def test_what_is_recorded_is_what_transformers_says() -> None:
    data: dict[str, Any] = json.loads(FILE.read_text())
    if transformers.__version__ != data["versions"]["newer"]:
        pytest.skip(f"recorded with transformers {data['versions']['newer']}")
    assert newer(data["older"]) == data["newer"]
    assert moved(data["older"]) == data["moved"]


@pytest.mark.parametrize("name", ["glm4v", "llava", "paligemma", "qwen2_vl"])
def test_sizes_at_the_top_level_are_taken_as_transformers_takes_them(name: str) -> None:
    from tiny import parsed

    sizes = {"hidden_size": 512, "vocab_size": 500}
    text = getattr(parsed({"model_type": name, **sizes}), TEXT)
    known = hfcount.blueprint({"model_type": name, **sizes}).spec
    assert (text.hidden_size, text.vocab_size) == (known.hidden, known.vocab)
