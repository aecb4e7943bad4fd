"""Pickled weights against a config, an index, and files of safetensors beside them."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from pickled import archive, called, number, numbers, pickle, state, storage, tensor, text

from hfcount import blueprint
from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.pickle.beside_safetensors import beside
from hfcount.checkpoints.pickle.check import conditions, examine, ties
from hfcount.checkpoints.pickled_shards import shard
from hfcount.formats.index import Index
from hfcount.formats.pickles import Broken, Pickle, look
from hfcount.formats.safetensors import Entry, parse_header
from hfcount.verifier.rules.hf702_not_a_state_dict import NotAStateDict

Shapes = Mapping[str, tuple[int, ...]]

CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 10,
    "hidden_size": 4,
    "intermediate_size": 6,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "tie_word_embeddings": False,
    "dtype": "float32",
}
LLAMA = blueprint(CONFIG)
SHAPES: Shapes = {one.name: one.shape for one in LLAMA.tensors()}
EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"


def steps(shape: tuple[int, ...]) -> list[int]:
    stride = [1]
    for size in reversed(shape[1:]):
        stride.insert(0, stride[0] * size)
    return stride[: len(shape)]


def saved(
    shapes: Shapes, ties: Mapping[str, str] | None = None, halved: bool = False, name: str = "pytorch_model.bin"
) -> Pickle:
    """What is read of a state dict of these shapes, some of them of another one's storage, half of them in half."""
    kinds, items, data = {False: ("torch.FloatStorage", 4), True: ("torch.HalfStorage", 2)}, {}, {}
    for number_, (key, shape) in enumerate(shapes.items()):
        kind, width = kinds[halved and number_ % 2 == 1]
        elements = 1
        for size in shape:
            elements *= size
        items[key] = tensor(storage((ties or {}).get(key, key), elements, kind), shape, steps(shape))
        if key not in (ties or {}):
            data[key] = bytes(elements * width)
    raw = archive(state(**items), data)
    result = look(name, len(raw), lambda start, stop: raw[start:stop])
    assert isinstance(result, Pickle), result
    return result


def kinds(plan: Blueprint, *files: Pickle | Broken, index: Index | None = None) -> list[tuple[str, str]]:
    findings = examine(plan, files, index).findings
    return [(finding.name, finding.severity) for finding in findings if not finding.informational]


def without(shapes: Shapes, *names: str) -> Shapes:
    return {name: shape for name, shape in shapes.items() if name not in names}


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        pytest.param(SHAPES, [], id="sound"),
        pytest.param(without(SHAPES, HEAD), [("missing-tensor", "error")], id="lost"),
        pytest.param({**SHAPES, "x.y": (2,)}, [("unexpected-tensor", "error")], id="another"),
        pytest.param({**SHAPES, HEAD: (9, 4)}, [("shape-differs", "error")], id="another shape"),
        pytest.param({f"module.{name}": SHAPES[name] for name in SHAPES}, [("wrapped-names", "error")], id="wrapped"),
    ],
)
def test_compares_names_and_shapes(shapes: Shapes, expected: list[tuple[str, str]]) -> None:
    assert kinds(LLAMA, saved(shapes)) == expected


def test_compares_dtypes() -> None:
    assert kinds(LLAMA, saved(SHAPES, halved=True)) == [("dtype-differs", "note")]


def test_a_copy_in_the_same_storage_is_no_second_tensor() -> None:
    tied = blueprint({**CONFIG, "tie_word_embeddings": True})
    assert kinds(tied, saved(SHAPES, {HEAD: EMBEDDING})) == []
    assert kinds(tied, saved(SHAPES)) == [("tied-weight-stored", "note")]
    file = saved(SHAPES, {HEAD: EMBEDDING})
    assert ties(file) == ((EMBEDDING, HEAD),)
    assert [finding.name for finding in examine(tied, [file]).findings] == []
    assert [finding.name for finding in examine(LLAMA, [file]).findings] == ["storage-shared"]


@pytest.mark.parametrize(("lost", "fits"), [((), True), ((HEAD,), False)])
def test_a_nested_state_dict_is_compared_where_it_lies(lost: tuple[str, ...], fits: bool) -> None:
    shapes = without(SHAPES, *lost)
    items = (text(name) + tensor(storage("0", 40), shape, steps(shape)) for name, shape in shapes.items())
    inner = b"}(" + b"".join(items) + b"u"
    raw = archive(pickle(b"}(" + text("epoch") + number(1) + text("model") + inner + b"u"), {"0": bytes(160)})
    (finding,) = examine(LLAMA, [look("x.pt", len(raw), lambda start, stop: raw[start:stop])]).findings
    assert isinstance(finding, NotAStateDict)
    assert (finding.severity, finding.path, finding.count) == ("error", ("model",), len(shapes))
    assert finding.fits == fits


def test_a_value_before_the_tensors_matters_where_the_config_has_no_dtype() -> None:
    raw = archive(state(epoch=number(1), x=tensor()))
    file = look("x.bin", len(raw), lambda start, stop: raw[start:stop])
    assert isinstance(file, Pickle)
    bare = blueprint({key: value for key, value in CONFIG.items() if key != "dtype"})
    for plan, severity in ((LLAMA, "note"), (bare, "error")):
        assert [finding.severity for finding in conditions(file, plan)] == [severity]
    first = replace(file, name="a.bin", leading=None)
    assert {finding.severity for finding in examine(bare, [file, first]).findings if finding.code == "HF707"} == {
        "note"
    }


def shards() -> list[Pickle]:
    names = list(SHAPES)
    parts = names[:5], names[5:]
    files = [f"pytorch_model-0000{number_}-of-00002.bin" for number_ in (1, 2)]
    return [saved({name: SHAPES[name] for name in part}, name=file) for part, file in zip(parts, files, strict=True)]


def test_compares_with_an_index() -> None:
    files = shards()
    places = {name: file.name for file in files for name in file.tensors}
    index = Index(places, frozenset(places.values()), sum(file.data for file in files), None, True)
    assert kinds(LLAMA, *files, index=index) == []
    swapped = {name: files[file == files[0].name].name for name, file in places.items()}
    assert kinds(LLAMA, *files, index=index.replace(weight_map=swapped)) == [("index-header-disagree", "error")]
    assert kinds(LLAMA, *files, index=index.replace(total_size=4)) == [("total-size-differs", "note")]


def test_a_broken_shard_is_told_once_and_the_others_are_compared() -> None:
    first, second = shards()
    broken = look(second.name, 0, lambda start, stop: b"")
    assert isinstance(broken, Broken)
    places = {name: file.name for file in (first, second) for name in file.tensors}
    index = Index(places, frozenset(places.values()), None, None, True)
    assert kinds(LLAMA, first, broken, index=index)[0] == ("invalid-header", "error")


def test_a_file_that_is_too_large_is_not_judged() -> None:
    raw = archive(pickle(b"(" * 2_000))
    file = look("x.bin", len(raw), lambda start, stop: raw[start:stop])
    assert isinstance(file, Broken) and file.large
    assert kinds(LLAMA, file) == []


def entries(shapes: Shapes, dtype: str = "F32") -> dict[str, Entry]:
    return {name: Entry(dtype, shape, 0, 0) for name, shape in shapes.items()}


@pytest.mark.parametrize(
    ("other", "facts"),
    [
        pytest.param(entries(SHAPES), None, id="the same"),
        pytest.param(entries({**SHAPES, "model.layers.0.self_attn.rotary_emb.inv_freq": (1,)}), None, id="a buffer"),
        pytest.param(entries(without(SHAPES, HEAD)), {"further"}, id="lost"),
        pytest.param(entries({**SHAPES, "x": (1,)}), {"lacking"}, id="another"),
        pytest.param(entries({**SHAPES, HEAD: (9, 4)}), {"shapes"}, id="another shape"),
        pytest.param(entries(SHAPES, "BF16"), {"dtypes"}, id="another dtype"),
    ],
)
def test_compares_with_safetensors_beside(other: dict[str, Entry], facts: set[str] | None) -> None:
    findings = list(beside([saved(SHAPES)], other, LLAMA))
    assert [(finding.name, finding.severity) for finding in findings] == [("bin-differs", "note")] * bool(facts)
    for finding in findings:
        assert {fact for fact in ("lacking", "further", "shapes", "dtypes") if getattr(finding, fact)} == facts


def test_names_of_the_base_model_are_no_other_model() -> None:
    bare = {name.removeprefix("model."): shape for name, shape in SHAPES.items() if name != HEAD}
    model = blueprint({**CONFIG, "architectures": ["LlamaModel"]})
    assert not list(beside([saved(bare)], entries(without(SHAPES, HEAD)), model))


def test_a_shard_is_a_valid_header_of_the_same_tensors() -> None:
    file = saved(SHAPES, halved=True)
    header = shard(file).header
    assert header is not None
    assert header.file_bytes == file.size
    assert parse_header("x", header.raw).tensors == header.tensors
    assert {name: entry.shape for name, entry in header.tensors.items()} == SHAPES


def test_dtypes_that_safetensors_lacks_keep_their_shapes() -> None:
    value = called(
        "torch._utils._rebuild_qtensor",
        storage("0", 6, "torch.QInt8Storage"),
        number(0),
        numbers([2, 3]),
        numbers([3, 1]),
        b"(Nt",
        b"\x89",
        b"N",
    )
    raw = archive(state(w=value), {"0": bytes(6)})
    file = look("x.bin", len(raw), lambda start, stop: raw[start:stop])
    assert isinstance(file, Pickle)
    header = shard(file).header
    assert header is not None
    assert header.tensors["w"][:2] == ("I8", (2, 3))
    assert [finding.name for finding in conditions(file, LLAMA)] == ["tensor-refused"]
