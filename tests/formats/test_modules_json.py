"""modules.json: which folders sentence-transformers reads, and what of them is not there."""

import json

import pytest

from hfcount.errors import DocumentError
from hfcount.formats.json import Document
from hfcount.formats.modules_json import Module, read_modules

FILES = (
    "config.json",
    "1_Pooling/config.json",
    "2_Dense/config.json",
    "3_Dense/config.json",
    "3_Dense/pytorch_model.bin",
)


def _read(value: object) -> list[Module]:
    return read_modules(Document("modules.json", json.dumps(value).encode()))


@pytest.mark.parametrize(
    ("path", "kind", "lacks"),
    [
        ("", "sentence_transformers.models.Transformer", None),
        ("1_Pooling", "sentence_transformers.models.Pooling", None),
        ("1_Pooling/", "sentence_transformers.models.Pooling", None),
        ("4_Pooling", "sentence_transformers.models.Pooling", "4_Pooling"),
        ("2_Dense", "sentence_transformers.models.Dense", "2_Dense/model.safetensors"),
        ("3_Dense", "sentence_transformers.sentence_transformer.modules.Dense", None),
        ("4_Dense", "sentence_transformers.models.Dense", "4_Dense"),
        ("0_Transformer", "sentence_transformers.models.Transformer", "0_Transformer"),
        ("2_Normalize", "sentence_transformers.models.Normalize", None),
        ("4_Own", "custom_st.Own", None),
    ],
)
def test_what_a_module_lacks(path: str, kind: str, lacks: str | None) -> None:
    (module,) = _read([{"idx": 0, "name": "0", "path": path, "type": kind}])
    assert module.lacks(FILES) == lacks


def test_which_modules_are_described() -> None:
    own, late = _read(
        [
            {"idx": 0, "name": "0", "path": "3_Dense", "type": "custom_st.Dense"},
            {"idx": 1, "name": "1", "path": "3_Dense", "type": "pylate.models.Dense.Dense"},
        ]
    )
    assert (own.described, own.holds_weights) == (False, False)
    assert (late.described, late.holds_weights) == (True, True)
    files = ["model.safetensors", "3_Dense/config.json", "3_Dense/pytorch_model.bin"]
    assert own.stored(files) == "3_Dense/pytorch_model.bin" and own.stored(files[:2]) is None


@pytest.mark.parametrize("name", ["", "a.b", None, 3])
def test_a_name_that_torch_refuses(name: object) -> None:
    with pytest.raises(DocumentError, match="name"):
        _read([{"idx": 0, "name": name, "path": "", "type": "sentence_transformers.models.Pooling"}])


@pytest.mark.parametrize("value", [{}, 5, ["a"], [{}], [{"path": "a"}], [{"path": None, "type": "b"}]])
def test_what_is_no_list_of_modules(value: object) -> None:
    with pytest.raises(DocumentError, match=r"modules\.json"):
        _read(value)
