"""Two checkpoints beside each other: what B is to A, which keys change what, how far one has to look."""

import json
import os
import re
import shutil
import struct
from collections.abc import Callable, Mapping
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import gguf_files
import pickled
import pipeline_repos
import pytest
from build import DEEPSEEK, TINY, config, named, raw, save_tiny, shard
from conftest import Command
from forking import Forks
from loopback import Hub, write_shard
from schema import problems
from tables import over

import hfcount
from hfcount.diffing.model import Diff

Json = dict[str, Any]
SINGLE = "model.safetensors"
WIDTHS = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2}
LETTERS = {"F64": "d", "F16": "e"}  # of struct; others are the end of a 32-bit float


def written(folder: Path, values: Json, change: Mapping[str, float | None] | None = None, dtype: str = "BF16") -> Path:
    """A checkpoint whose tensors hold numbers that their names make; some of them others, or not there at all."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(raw(values))
    numbers = {}
    for one in hfcount.blueprint(values).tensors():
        more = (change or {}).get(one.name) or 0.0
        numbers[one.name] = (tuple(map(int, one.shape)), number(one.name) + more)
    gone = {name for name, number in (change or {}).items() if number is None}
    (folder / SINGLE).write_bytes(filled({name: one for name, one in numbers.items() if name not in gone}, dtype))
    return folder


def number(name: str) -> float:
    """What a tensor of this name is filled with."""
    return sum(map(ord, name)) % 7 / 8


def filled(tensors: Mapping[str, tuple[tuple[int, ...], float | list[float]]], dtype: str = "BF16") -> bytes:
    """A file of tensors, each of one number, or of several parts of one number."""
    whole = bytearray(shard({name: shape for name, (shape, _) in tensors.items()}, dtype, WIDTHS[dtype]))
    begin = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:begin])
    for name, (_, numbers) in tensors.items():
        first, end = header[name]["data_offsets"]
        parts = numbers if isinstance(numbers, list) else [numbers]
        many = (end - first) // WIDTHS[dtype] // len(parts)
        codes = [struct.pack(f"<{LETTERS.get(dtype, 'f')}", one)[-WIDTHS[dtype] :] for one in parts]
        whole[begin + first : begin + end] = b"".join(code * many for code in codes)
    return bytes(whole)


def renamed(folder: Path, source: Path, name: Callable[[str], str]) -> Path:
    """A copy with other names in its file, of the same length."""
    shutil.copytree(source, folder)
    whole = (source / SINGLE).read_bytes()
    end = 8 + int.from_bytes(whole[:8], "little")
    header = {name(one): entry for one, entry in json.loads(whole[8:end]).items()}
    text = json.dumps(header).encode()
    (folder / SINGLE).write_bytes(len(text).to_bytes(8, "little") + text + whole[end:])
    return folder


def told(found: Diff) -> set[str]:
    return {one.kind for one in found.relations}


LLAMA = TINY["llama"]
MOE = TINY["qwen3_moe"]
ROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}}

# Configs of A and B, what B is then, and the exit code
SIZES: dict[str, tuple[Json, Json, set[str], int]] = {
    "the same": (LLAMA, LLAMA, {"same-files"}, 0),
    "fewer layers": (LLAMA, config("llama", num_hidden_layers=2), {"layers"}, 1),
    "more layers": (LLAMA, config("llama", num_hidden_layers=5), {"layers"}, 1),
    "fewer experts": (MOE, config("qwen3_moe", num_experts=4), {"experts"}, 1),
    "more rows": (LLAMA, config("llama", vocab_size=52), {"vocabulary"}, 1),
    "fewer rows of a tied table": (
        config("qwen2", tie_word_embeddings=True),
        config("qwen2", tie_word_embeddings=True, vocab_size=44),
        {"vocabulary"},
        1,
    ),
    "a head of its own": (config("llama", tie_word_embeddings=True), LLAMA, {"tie"}, 1),
    "a tied head": (LLAMA, config("llama", tie_word_embeddings=True), {"tie"}, 1),
    "no head": (LLAMA, config("llama", architectures=named("llama", "Model")), {"head"}, 1),
    "another head": (LLAMA, config("llama", architectures=named("llama", "ForSequenceClassification")), {"head"}, 1),
    "other widths": (LLAMA, config("llama", intermediate_size=24), {"tensors"}, 1),
    "labels of another number": (
        config("llama", architectures=named("llama", "ForSequenceClassification")),
        config("llama", architectures=named("llama", "ForSequenceClassification"), num_labels=5),
        {"head"},
        1,
    ),
    "another width of the same vocabulary": (LLAMA, config("llama", hidden_size=8), {"another-model"}, 1),
    "another size": (LLAMA, config("llama", hidden_size=16, intermediate_size=24), {"another-model"}, 1),
    "another type": (LLAMA, TINY["qwen3"], {"another-model"}, 1),
    "no prediction": (DEEPSEEK | {"num_nextn_predict_layers": 0}, DEEPSEEK, {"same-values"}, 0),
    "other rope": (LLAMA, config("llama") | ROPE, {"same-values", "reading"}, 0),
    "heads of another size": (
        LLAMA,
        config("llama", num_attention_heads=2, head_dim=6, num_key_value_heads=1),
        {"same-values", "reading"},
        0,
    ),
    "another version": (LLAMA, config("llama", transformers_version="4.30.0"), {"same-values"}, 0),
}


@over("row", SIZES.values(), SIZES, every=3)
def test_what_b_is(tmp_path: Path, row: tuple[Json, Json, set[str], int]) -> None:
    a, b, kinds, code = row
    found = hfcount.diff(written(tmp_path / "a", a), written(tmp_path / "b", b))
    assert (told(found), found.exit_code) == (kinds, code), found.summary


def test_no_name_is_broken_at_the_end_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns become lines below one another where they are too wide."""
    a = written(tmp_path / "a", LLAMA)
    b = written(tmp_path / "b", config("llama", hidden_size=16, intermediate_size=24, num_hidden_layers=2))
    found = hfcount.diff(a, b)
    assert found.tensors
    rows = (*found.tensors.shapes[:12], *found.tensors.only_a[:12])
    names = [pair.a.name for pair in rows if pair.a]
    for columns in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = str(found).splitlines()
        assert max(map(len, lines)) <= columns
        assert not [name for name in names if not any(name in line.split() for line in lines)]
    assert str(found).count(f" {names[0]}") == 2  # for the key that changes it, and for its shape


def test_packed_weights_stand_for_their_matrices(tmp_path: Path) -> None:
    """As MLX stores them: scales and biases beside codes."""
    values = config("llama", hidden_size=64, intermediate_size=64, head_dim=16)
    a = written(tmp_path / "a", values)
    packed: dict[str, tuple[str, tuple[int, ...]]] = {}
    for one in hfcount.blueprint(values).tensors():
        if len(one.shape) == 1:
            packed[one.name] = "BF16", one.shape
            continue
        rows, columns = map(int, one.shape)
        packed[one.name] = "U32", (rows, columns // 8)
        for end in ("scales", "biases"):
            packed[one.name.replace("weight", end)] = "BF16", (rows, columns // 32)
    b = tmp_path / "b"
    b.mkdir()
    settings = {"group_size": 32, "bits": 4}
    (b / "config.json").write_bytes(raw(values | {"quantization": settings, "quantization_config": settings}))
    write_shard(b / SINGLE, packed)
    found = hfcount.diff(a, b)
    assert (told(found), found.exit_code) == ({"quantised"}, 1), found.summary
    assert told(hfcount.diff(b, a)) == {"dequantised"}
    assert hfcount.diff(a, b, expect="quantised").ok


# A key of B's config, its value, and what it changes
EFFECTS: dict[str, tuple[Json, str | None]] = {
    "a size": ({"intermediate_size": 24}, "tensors"),
    "a number of layers": ({"num_hidden_layers": 2}, "tensors"),
    "an epsilon": ({"rms_norm_eps": 1e-5}, "reading"),
    "the default": ({"rms_norm_eps": 1e-6, "hidden_act": "silu"}, None),
    "an activation": ({"hidden_act": "gelu"}, "reading"),
    "an id": ({"eos_token_id": 9}, "reading"),
    "a dropout": ({"attention_dropout": 0.5}, "training"),
    "a version": ({"transformers_version": "4.0.0"}, "none"),
    "an earlier name": ({"dtype": None, "torch_dtype": "bfloat16"}, None),
    "a dtype": ({"dtype": "float16"}, "storage"),
    "a key of nobody's": ({"colour": "blue"}, "unknown"),
    "rope of version 4": ({"rope_theta": 500000.0}, "reading"),
    "rope that is usual": ({"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}, None),
    "null": ({"rope_scaling": None, "head_dim": None}, None),
}


@over("row", EFFECTS.values(), EFFECTS, every=3)
def test_keys_by_effect(tmp_path: Path, row: tuple[Json, str | None]) -> None:
    change, effect = row
    for name, values in (("a", LLAMA), ("b", LLAMA | change)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_bytes(raw(values))
    found = hfcount.diff(tmp_path / "a", tmp_path / "b")
    assert [row.effect for row in found.config] == ([effect] if effect else [])


def test_a_key_says_which_tensors_it_changes(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a", LLAMA), written(tmp_path / "b", config("llama", vocab_size=52))
    (row,) = hfcount.diff(a, b).config
    assert (row.key, row.a, row.b) == ("vocab_size", 50, 52)
    assert row.tensors == ("model.embed_tokens.weight", "lm_head.weight")


def test_readers_that_disagree_are_named(tmp_path: Path) -> None:
    """Version 4 of transformers does not find where version 5 writes it."""
    a, b = written(tmp_path / "a", config("llama", rope_theta=5e5)), written(tmp_path / "b", config("llama") | ROPE)
    (row,) = hfcount.diff(a, b).config
    assert row.key == "rope_parameters.rope_theta"
    assert row.readers
    assert "transformers 4.57 uses 10,000" in row.readers.replace("10000.0", "10,000")


def test_other_names_are_the_same_tensors(tmp_path: Path) -> None:
    a = written(tmp_path / "a", LLAMA)
    b = renamed(tmp_path / "b", a, lambda name: name.removeprefix("model."))
    found = hfcount.diff(a, b, depth="data")
    assert told(found) == {"same-values", "spelling"}
    assert found.tensors
    assert sum(row.count for row in found.tensors.renamed) == 29


@pytest.mark.parametrize("apart", [False, True])
def test_joined_experts_are_the_same_tensors(tmp_path: Path, apart: bool) -> None:
    """Slices of a stack are compared with the matrices of each expert."""
    a = written(tmp_path / "a", MOE)
    stored: dict[str, tuple[tuple[int, ...], float | list[float]]] = {}
    for one in hfcount.blueprint(MOE).tensors():
        if ".experts." not in one.name:
            stored[one.name] = (tuple(map(int, one.shape)), number(one.name))
    for layer in range(3):
        prefix = f"model.layers.{layer}.mlp.experts."
        names = {end: [f"{prefix}{expert}.{end}_proj.weight" for expert in range(8)] for end in ("gate", "up", "down")}
        both = [number(name) for pair in zip(names["gate"], names["up"], strict=True) for name in pair]
        both[-1] += 0.5 if apart else 0.0
        stored[f"{prefix}gate_up_proj"] = (8, 20, 12), both
        stored[f"{prefix}down_proj"] = (8, 12, 10), [*map(number, names["down"])]
    shutil.copytree(a, tmp_path / "b")
    (tmp_path / "b" / SINGLE).write_bytes(filled(stored))
    found = hfcount.diff(a, tmp_path / "b", depth="data")
    assert found.same_structure
    assert found.values
    assert found.values.tensors == len([*hfcount.blueprint(MOE).tensors()])
    assert told(found) == {"spelling", "finetune" if apart else "same-values"}
    assert [row.name for row in found.values.rows] == ["model.layers.{0-2}.mlp.experts.7.up_proj.weight"] * apart


Q = [f"model.layers.{layer}.self_attn.q_proj.weight" for layer in range(3)]
BERT = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "vocab_size": 50,
    "hidden_size": 12,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
DENSE = {"in_features": 12, "out_features": 8, "bias": True}

# What differs, and what depth data says of it
VALUES: dict[str, tuple[Mapping[str, float | None], str, set[str], str]] = {
    "nothing": ({}, "BF16", {"same-values"}, "same"),
    "the head": ({"lm_head.weight": 0.25}, "BF16", {"finetune"}, "finetune"),
    "a cast": ({}, "F32", {"cast", "same-values"}, "cast"),
}


@pytest.mark.parametrize("row", VALUES.values(), ids=VALUES)
def test_values(tmp_path: Path, row: tuple[Mapping[str, float | None], str, set[str], Any]) -> None:
    change, dtype, kinds, expected = row
    a, b = written(tmp_path / "a", LLAMA), written(tmp_path / "b", LLAMA, change, dtype)
    (b / "generation_config.json").write_bytes(b"{}")
    (b / "config.json").write_bytes(raw(LLAMA | {"_name_or_path": "x"}))
    found = hfcount.diff(a, b, depth="data", expect=expected)
    if not change and dtype == "BF16":
        kinds = told(found) & {"same-values"}
    kinds = kinds | {"reading"}  # by the settings of generation
    assert (told(found), found.exit_code) == (kinds, 0), found.summary
    if change:
        assert found.values
        (component,) = (row for row in found.values.components if row.differing)
        assert (component.component, component.differing, component.largest) == ("lm_head", 1, 0.25)


def test_differences_beyond_what_a_float_holds_are_no_figures(tmp_path: Path) -> None:
    a = written(tmp_path / "a", LLAMA, {}, "F64")
    b = written(tmp_path / "b", LLAMA, {"lm_head.weight": 1e200}, "F64")
    found = hfcount.diff(a, b, depth="data")
    assert found.values
    (row,) = found.values.rows
    assert (row.differing, row.rms, row.relative) == (1, None, None)
    assert row.largest == pytest.approx(1e200)
    assert "Infinity" not in found.to_json()


def test_values_of_pickled_files(tmp_path: Path) -> None:
    """Those that lie in another order are not compared, and not said to be the same."""
    a, b = written(tmp_path / "a", LLAMA), written(tmp_path / "b", LLAMA)
    tensors = {one.name: ("BF16", tuple(map(int, one.shape))) for one in hfcount.blueprint(LLAMA).tensors()}
    codes = {name: struct.pack("<f", number(name))[-2:] * prod(shape) for name, (_, shape) in tensors.items()}
    turned, changed = Q[0], "lm_head.weight"
    other = {turned: pickled.tensor(pickled.storage(turned, 144, "torch.BFloat16Storage"), (12, 12), [1, 12])}
    for more, storages, kinds, uncompared, code in (
        ({}, codes, {"same-values", "container"}, 0, 0),
        ({}, codes | {changed: bytes(len(codes[changed]))}, {"finetune", "container"}, 0, 1),
        (other, codes, {"same-values", "container"}, 1, 0),
    ):
        (b / SINGLE).unlink(missing_ok=True)
        state = pickled.state(**pickled.items(tensors, more))
        (b / "pytorch_model.bin").write_bytes(pickled.archive(state, storages))
        found = hfcount.diff(a, b, depth="data")
        assert (told(found), found.exit_code) == (kinds, code), found.summary
        assert found.values
        assert found.values.uncompared == uncompared


def test_values_of_modules(tmp_path: Path) -> None:
    """Around the model, as sentence-transformers has them."""
    listed = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense")]
    kind = "sentence_transformers.models."
    modules = [{"idx": n, "name": str(n), "path": path, "type": kind + name} for n, (path, name) in enumerate(listed)]
    for name, weight in (("a", 0.0), ("b", 0.5)):
        folder = written(tmp_path / name, BERT)
        (folder / "modules.json").write_text(json.dumps(modules))
        for path, own in (("1_Pooling", {"word_embedding_dimension": 12}), ("2_Dense", DENSE)):
            (folder / path).mkdir()
            (folder / path / "config.json").write_bytes(raw(own))
        dense = filled({"linear.weight": ((8, 12), weight), "linear.bias": ((8,), 0.0)}, "F32")
        (folder / "2_Dense" / SINGLE).write_bytes(dense)
    found = hfcount.diff(tmp_path / "a", tmp_path / "b", depth="data")
    assert told(found) == {"finetune"}
    assert found.values
    assert [row.name for row in found.values.rows] == ["2_Dense/linear.weight"]


@pytest.fixture
def asked(hub: Hub, tmp_path: Path, _forks: Forks) -> Callable[..., Diff]:
    """What `hfcount diff` says of repos of the loopback Hub."""

    def diff(*words: str | Path) -> Diff:
        given = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        _, out, err = _forks.run(["diff", "--json", *map(str, words)], tmp_path, os.environ | given, 600)
        assert not err
        return Diff.model_validate_json(out)

    return diff


def test_samples_are_read_by_ranges(tmp_path: Path, hub: Hub, asked: Callable[..., Diff]) -> None:
    hub.publish("org/a", written(tmp_path / "a", LLAMA))
    hub.publish("org/b", written(tmp_path / "b", LLAMA, {"lm_head.weight": 0.25}))
    found = asked("org/a", "org/b", "--sample")
    assert found.depth == "samples"
    assert told(found) == {"finetune"}
    assert found.values
    assert found.values.identical == found.values.tensors - 1


@pytest.mark.parametrize(("other", "most"), [({}, 2), ({"rms_norm_eps": 1e-5}, 4)])
def test_a_copy_is_told_by_the_listings(
    tmp_path: Path, hub: Hub, asked: Callable[..., Diff], other: Json, most: int
) -> None:
    hub.lfs = (".safetensors",)
    hub.publish("org/base", written(tmp_path / "a", LLAMA))
    hub.publish("org/merged", written(tmp_path / "b", LLAMA | other))
    found = asked("org/base", "org/merged", "--expect", "finetune")
    assert len(hub.requests) <= most
    assert found.depth == "listing"
    assert found.expectation
    assert (found.expectation.met, found.exit_code) == (False, 1)
    assert told(found) >= {"same-values" if other else "same-files"}


def test_a_download_is_its_repo(tmp_path: Path, hub: Hub, asked: Callable[..., Diff]) -> None:
    """By what `hf download --local-dir` keeps beside its files."""
    hub.lfs = (".safetensors",)
    source = written(tmp_path / "a", LLAMA)
    commit = hub.publish("org/a", source)
    shutil.copytree(source, tmp_path / "b")
    kept = tmp_path / "b" / ".cache" / "huggingface" / "download"
    kept.mkdir(parents=True)
    digest = sha256((source / SINGLE).read_bytes()).hexdigest()
    (kept / f"{SINGLE}.metadata").write_text(f"{commit}\n{digest}\n9999999999\n")
    assert told(asked("org/a", tmp_path / "b")) == {"same-files"}
    assert len(hub.requests) == 1


ADAPTER = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"], "base_model_name_or_path": "org/base"}

# What differs in B, and whether it is A with the adapter
MERGES: dict[str, tuple[dict[str, float | None], bool]] = {
    "all targets": (dict.fromkeys(Q, 0.25), True),
    "nothing": ({}, False),
    "one target less": (dict.fromkeys(Q[1:], 0.25), False),
    "more than targets": (dict.fromkeys([*Q, "lm_head.weight"], 0.25), False),
    "a tensor is lost": (dict.fromkeys(Q, 0.25) | {"lm_head.weight": None}, False),
}


@pytest.mark.parametrize("row", MERGES.values(), ids=MERGES)
def test_merges(tmp_path: Path, row: tuple[dict[str, float | None], bool]) -> None:
    change, met = row
    a, b = written(tmp_path / "a", LLAMA), written(tmp_path / "b", LLAMA, change)
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_bytes(raw(ADAPTER))
    found = hfcount.diff(a, b, depth="data", expect="merge", adapter=tmp_path / "adapter")
    assert found.expectation
    assert found.expectation.met is met, found.expectation.reason


@pytest.mark.parametrize("where", [("none", "a"), ("a", "none"), ("none", "nowhere")])
def test_a_side_that_cannot_be_looked_at(tmp_path: Path, where: tuple[str, str]) -> None:
    written(tmp_path / "a", LLAMA)
    found = hfcount.diff(*(tmp_path / name for name in where))
    assert found.exit_code == 3
    assert [one.error is None for one in (found.a, found.b)] == [name == "a" for name in where]


LINES: dict[str, tuple[str, int, str]] = {
    "two folders": ("diff a b", 1, "B has 2 of A's 3 layers"),
    "one": ("diff a", 2, "diff compares two"),
    "json": ("diff a a --json", 0, '"same_structure": true'),
    "markdown": ("diff a b --format markdown", 1, "### `a` and `b`"),
    "not expected": ("diff a b --expect same", 1, "Expected same: no, its structure differs from A."),
    "a cast": ("diff a b --expect cast", 1, "Expected cast: no, it is not A in another dtype."),
    "no adapter": ("diff a b --expect merge", 2, "--adapter"),
    "nothing there": ("diff a ./nowhere", 3, "B: "),
    "config alone": ("diff a/config.json b/config.json", 1, "num_hidden_layers"),
    "a file": ("diff a b -o d.json -o d.md", 1, "layers"),
    "help": ("help diff", 0, "A B"),
}


@over(("line", "code", "said"), LINES.values(), LINES)
def test_lines(command: Command, line: str, code: int, said: str) -> None:
    save_tiny(Path("a"))
    save_tiny(Path("b"), num_hidden_layers=2)
    result = command(*line.split())
    assert (result.code, said in result.out + result.err) == (code, True), result


@pytest.mark.parametrize("given", [{"expect": "merge"}, {"adapter": "x"}, {"adapter": "x", "expect": "same"}])
def test_a_merge_and_its_adapter_go_together(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="needs adapter"):
        hfcount.diff("a", "b", **given)


def test_json_is_as_the_schema_says(tmp_path: Path) -> None:
    schema = json.loads((Path(hfcount.__file__).parent / "docs" / "diff.schema.json").read_text())
    assert Diff.model_json_schema() == schema, "run `python tests/tools/update.py`"
    a, b = written(tmp_path / "a", LLAMA), written(tmp_path / "b", config("llama", vocab_size=52))
    for found in (hfcount.diff(a, b, depth="data", expect="same"), hfcount.diff(a, tmp_path / "none")):
        assert problems(schema, json.loads(found.to_json()), schema) == []
        assert Diff.model_validate_json(found.to_json()) == found


def test_it_says_the_same_in_every_form(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a", LLAMA), written(tmp_path / "b", config("llama", vocab_size=52))
    found = hfcount.diff(a, b)
    for text in (str(found), found.to_markdown()):
        assert "vocabulary with 2 more rows (52 instead of 50)" in text


PAGE = Path(hfcount.__file__).parent / "docs" / "diff.md"


def test_the_page_shows_what_is_printed(command: Command) -> None:
    written(Path("base"), LLAMA)
    written(Path("larger"), config("llama", vocab_size=52))
    written(Path("tuned"), LLAMA, {"lm_head.weight": 0.25})
    written(Path("merged"), LLAMA, dict.fromkeys(Q, 0.25))
    Path("adapter").mkdir()
    Path("adapter", "adapter_config.json").write_bytes(raw(ADAPTER))
    shown = dict(re.findall(r"```console\n\$ hfcount (.*)\n((?:.*\n)*?)```", PAGE.read_text()))
    assert len(shown) == 3
    assert {line: command(*line.split()).out for line in shown} == shown


COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)[0].splitlines()


@pytest.mark.parametrize(
    "line", [pytest.param(line, marks=[pytest.mark.long] * bool(place)) for place, line in enumerate(COMMANDS)]
)
def test_the_lines_of_the_page_run(tmp_path: Path, hub: Hub, _forks: Forks, line: str) -> None:
    written(tmp_path / "base", LLAMA)
    written(tmp_path / "merged", LLAMA, dict.fromkeys(Q, 0.25))
    written(tmp_path / "tuned", LLAMA, {"lm_head.weight": 0.25})
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_bytes(raw(ADAPTER))
    for ref in ("main", "refs/pr/1"):
        hub.publish("org/base", tmp_path / "base", ref)
    if "--depth data" in line:
        line = line.replace("org/base", "./base")  # which is to be on this machine
    given = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    code, out, err = _forks.run(line.split()[1:], tmp_path, os.environ | given, 600)
    assert (code, err) == (0, "")
    assert out


def test_the_python_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "org" / "base", LLAMA)
    written(tmp_path / "merged", LLAMA, dict.fromkeys(Q, 0.25))
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: Json = {"hfcount": hfcount}
    exec(compile(block, "diff.md", "exec"), names)
    assert names["found"].same_structure


def test_a_page_draws_what_differs_by_layer(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[html]'")
    change = {"model.layers.1.mlp.up_proj.weight": 0.25}
    values = LLAMA | {"<script>": "<img src=x>"}
    found = hfcount.diff(written(tmp_path / "a", LLAMA), written(tmp_path / "b", values, change), depth="data")
    (cell,) = (one for one in found.cells if one.values)
    assert (cell.stack, cell.number, cell.component, cell.values, cell.tensors) == ("layers", 1, "mlp", 1, 3)
    page = found.to_html()
    assert page.count("<rect") == len(found.cells) == 3 * 3 + 3
    assert "layers.1 mlp, 3 tensors: 1 other values" in page
    assert "<script>" not in page
    assert "<img" not in page


# A container, what it is compared with, and what B is then
CONTAINED: dict[str, tuple[str, str, set[str], int]] = {
    "a GGUF file of a model": ("model", "q8.gguf", {"quantised", "container"}, 1),
    "a model of a GGUF file": ("q8.gguf", "model", {"dequantised", "container"}, 1),
    "GGUF of the same types": ("model", "f32.gguf", {"cast", "container"}, 1),
    "two GGUF files": ("f32.gguf", "q8.gguf", {"quantised"}, 1),
    "GGUF twice": ("q8.gguf", "q8.gguf", {"same-structure"}, 0),
    "GGUF of another model": ("deeper", "q8.gguf", {"tensors"}, 1),
}


def test_containers(tmp_path: Path) -> None:
    wrong = {}
    values = gguf_files.CONFIG | {"dtype": "bfloat16"}
    written(tmp_path / "model", values)
    written(tmp_path / "deeper", values | {"num_hidden_layers": 3})
    pairs, shapes = gguf_files.model()
    for name, kind in (("f32", "F32"), ("q8", "Q8_0")):
        file = gguf_files.source(pairs, gguf_files.laid_out(shapes, {"token_embd.weight": kind}))
        (tmp_path / f"{name}.gguf").write_bytes(file(0, file.size))
    for case, (a, b, kinds, code) in CONTAINED.items():
        found = hfcount.diff(tmp_path / a, tmp_path / b)
        if (told(found), found.exit_code) != (kinds, code):
            wrong[case] = found.summary
    assert not wrong


@pytest.mark.parametrize(("positions", "kinds"), [(64, {"cast", "container"}), (66, {"tensors"})])
def test_positions_that_the_converter_drops(tmp_path: Path, positions: int, kinds: set[str]) -> None:
    values = gguf_files.BERT | {"model_type": "roberta", "architectures": ["RobertaModel"]}
    pairs, shapes = gguf_files.bert(positions)
    file = gguf_files.source(pairs, gguf_files.laid_out(shapes))
    (tmp_path / "m.gguf").write_bytes(file(0, file.size))
    found = hfcount.diff(written(tmp_path / "m", values), tmp_path / "m.gguf")
    assert (told(found), found.exit_code) == (kinds, 1), found.summary


def test_pipelines_are_compared_part_by_part(tmp_path: Path) -> None:
    a = pipeline_repos.pipeline(tmp_path / "a")
    b = pipeline_repos.pipeline(tmp_path / "b", pipeline_repos.says("text_encoder/config.json", num_hidden_layers=1))
    found = hfcount.diff(a, b)
    assert found.parts
    assert {name: part.exit_code for name, part in found.parts.items()} == {"text_encoder": 1, "unet": 0, "vae": 0}
    assert (told(found), found.exit_code) == ({"layers", "same-files"}, 1)
    assert "in text_encoder has 1 of A's 2 layers" in found.summary


# What is wrong with B's files: none of it is a traceback, and nothing is said to be the same that was not read
BROKEN: dict[str, dict[str, bytes]] = {
    "no JSON": {"config.json": b"{{{"},
    "a list": {"config.json": b"[]"},
    "a long number": {"config.json": b'{"model_type": "llama", "vocab_size": ' + b"9" * 5000 + b"}"},
    "types that are none": {
        "config.json": raw({"model_type": [], "text_config": {"model_type": {}}, "torch_dtype": 3})
    },
    "many layers": {"config.json": raw(LLAMA | {"num_hidden_layers": 10**9})},
    "odd keys": {"config.json": raw(LLAMA | {"a.b": 1, "": 2, "a[0]": {"x": [None]}, "\u202e": "\x1b[2J"})},
    "rope that is none": {"config.json": raw(LLAMA | {"rope_scaling": "yes", "rope_parameters": [1]})},
    "a file that is cut": {SINGLE: b"\x40\0\0\0\0\0\0\0{"},
    "an empty file": {SINGLE: b""},
}


@over("files", BROKEN.values(), BROKEN)
def test_broken_sides(tmp_path: Path, files: Mapping[str, bytes]) -> None:
    a = written(tmp_path / "a", LLAMA)
    b = written(tmp_path / "b", config("llama", _name_or_path="b"))
    for name, content in files.items():
        (b / name).write_bytes(content)
    for pair in ((a, b), (b, a), (b, b)):
        found = hfcount.diff(*pair)
        text = f"{found}{found.to_markdown()}{found.to_json()}"
        assert "\x1b[2J" not in text
        assert "\u202e" not in text
        if SINGLE in files and pair != (b, b):
            assert found.exit_code == 3
    shutil.rmtree(a)
    shutil.rmtree(b)
