"""`hfcount fix`: what is offered, what it changes, and what it leaves alone."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from build import Json, unread
from click.testing import CliRunner
from damaged import (
    CONFIG,
    FIRST,
    FP8,
    INDEX,
    ONE,
    SECOND,
    STALE,
    Files,
    Spoil,
    claims,
    content,
    each,
    edit,
    files,
    fix,
    header,
    kept,
    maps,
    named,
    prefixed,
    says,
    sound,
)
from defects import CASES, THIRD, Checkpoint, header_of, in_blocks, predicting, sharded, single, write
from loopback import write_checkpoint
from paths import ARCHITECTURES
from spread import spread

import hfcount
from hfcount.cli.commands import find
from hfcount.cli.main import main
from hfcount.errors import HfcountError, UnknownArchitecture
from hfcount.repair.plan import planned

REPAIRED: dict[str, tuple[Json, Spoil]] = {
    "vocab_size": ({}, says(vocab_size=44)),
    "intermediate_size": ({"family": "llama"}, says(intermediate_size=10)),
    "head_dim": ({}, says(head_dim=4)),
    "num_experts": ({"family": "qwen3_moe"}, says(num_experts=2, num_experts_per_tok=2)),
    "a dtype that nobody knows": ({}, says(dtype="bf16")),
    "two keys at once": ({}, says(vocab_size=44, head_dim=4)),
    "quantization_config": ({}, says(quantization_config=FP8)),
    "quantization_config, and a size": ({}, says(quantization_config=FP8, vocab_size=44)),
    "total_size": ({}, claims(total_size=1)),
    "total_size of none": ({}, edit(INDEX, lambda index: index["metadata"].pop("total_size"))),
    "total_parameters": ({}, claims(total_parameters=1)),
    "an index that is cut off": ({}, lambda folder: os.truncate(folder / INDEX, 200)),
    "a tensor in another file": ({}, maps(lambda names: names.update({"model.norm.weight": FIRST}))),
    "a file that the index leaves out": (
        {},
        maps(lambda names: [names.pop(name) for name in list(names) if names[name] == SECOND]),
    ),
    "an index of other files": ({}, maps(lambda names: names.update(dict.fromkeys(names, "a-1-of-9.safetensors")))),
    "an index of a file outside": ({}, maps(lambda names: names.update({"lm_head.weight": "../x.safetensors"}))),
    "an empty index beside one file": ({"shards": 1}, content(INDEX, "")),
    "everything": (
        {},
        each(
            prefixed("module."),
            says(vocab_size=44, quantization_config=FP8),
            maps(lambda names: names.update({"module.model.norm.weight": FIRST})),
        ),
    ),
}
"""What nobody can load otherwise, where one cure fits all that is stored and gives up nothing."""

Asked = tuple[Json, Spoil, str]

ASKED: dict[str, Asked] = {
    "fewer rows": ({}, says(vocab_size=56), "--only HF301"),
    "fewer layers": ({"family": "llama"}, says(num_hidden_layers=5), "--only HF201"),
    "more layers": ({"family": "llama"}, says(num_hidden_layers=2), "--only HF202"),
    "one layer less, chosen": ({"family": "llama"}, says(num_hidden_layers=4), "--set num_hidden_layers=3"),
    "half of each MLP": ({"family": "llama"}, says(intermediate_size=48), "--only HF301"),
    "fewer layers, and a list of them": (
        {"layer_types": ["full_attention"] * 3},
        says(num_hidden_layers=5),
        "--only HF103",
    ),
    "a list of layers that is longer": (
        {"layer_types": ["full_attention"] * 3},
        says(layer_types=["full_attention"] * 6),
        "--only HF103",
    ),
    "a list of layers that is shorter": (
        {"layer_types": ["full_attention"] * 3},
        says(layer_types=["full_attention"] * 2),
        "--only HF103",
    ),
    "narrower heads": ({}, says(head_dim=8), "--only HF301"),
    "a width, where other keys would fit together": (
        {"family": "llama", "head_dim": 6},
        says(head_dim=3),
        "--set head_dim=6",
    ),
    "heads, where a width would fit alone": (
        {"family": "llama", "head_dim": 6},
        says(num_attention_heads=8, num_key_value_heads=4),
        "--set num_attention_heads=4 --set num_key_value_heads=2",
    ),
    # Ranks that hold the same heads may have been joined.
    "twice the heads of keys and values": ({}, says(num_key_value_heads=1), "--only HF301"),
    # An adapter may be lost.
    "names of a base layer": ({}, named(lambda name: name.replace("q_proj.", "q_proj.base_layer.")), "--only HF211"),
    "fewer heads of keys and values": ({}, says(num_key_value_heads=4), "--only HF301"),
    "num_key_value_heads that is not there": (
        {"family": "llama", "head_dim": 6},
        edit(CONFIG, lambda values: values.pop("num_key_value_heads")),
        "--set num_key_value_heads=2",
    ),
    "fewer experts": ({"family": "qwen3_moe"}, says(num_experts=16), "--only HF201"),
    "a head beside a tie": ({}, says(tie_word_embeddings=True), "--only HF213"),
    "a head beside a tie, chosen": ({}, says(tie_word_embeddings=True), "--set tie_word_embeddings=false"),
    "no head": ({"tie_word_embeddings": True}, says(tie_word_embeddings=False), "--only HF201"),
    "no head, chosen": (
        {"tie_word_embeddings": True},
        says(tie_word_embeddings=False),
        "--set tie_word_embeddings=true",
    ),
    "dtype": ({}, says(dtype="float32"), "--only dtype-differs"),
    "dtype, chosen": ({}, says(dtype="float32"), "--set dtype=bfloat16"),
    "a size that the totals contradict": ({}, each(says(vocab_size=44), claims(total_size=7)), "--only HF301"),
    "an index of a model that is not there": ({"shards": 1}, content(INDEX, json.dumps(STALE)), "--only HF005"),
    "a total of a layer more": ({}, lambda folder: announcing(folder, "model.layers.2."), "--only HF401"),
    "a total of a head more": (
        {"tie_word_embeddings": True},
        lambda folder: announcing(folder, "model.embed"),
        "--only HF401",
    ),
    "parameters of two layers more": (
        {},
        lambda folder: announcing(folder, "model.layers.2.", "total_parameters", 2),
        "--only HF403",
    ),
}
"""What loads as it is, has more than one cure, or may give up something that was lost."""


def announcing(folder: Path, part: str, claim: str = "total_size", times: int = 1) -> None:
    """A total that counts some tensors more than once."""
    found: dict[str, list[int]] = {}
    for path in folder.glob("*.safetensors"):
        header = json.loads(header_of(path.read_bytes()))
        found |= {name: one["data_offsets"] for name, one in header.items() if name.startswith(part)}
    size = sum(end - begin for begin, end in found.values()) * times

    def add(index: Json) -> None:
        index["metadata"][claim] += size // (1 if claim == "total_size" else 2)

    edit(INDEX, add)(folder)


@pytest.mark.long
def test_a_total_of_a_layer_of_another_size_than_those_that_are_left(tmp_path: Path) -> None:
    values = recorded("jamba")
    last = values | {"num_hidden_layers": values["num_hidden_layers"] - 1}
    folder = write_checkpoint(tmp_path / "m", last)
    claims(total_size=2 * hfcount.blueprint(values).total)(folder)
    before = files(folder)
    assert (fix(folder, "--write"), files(folder)) == (1, before)
    assert fix(folder, "--write", "--only", "HF401") == 0


def test_a_loss_that_is_accepted_leaves_the_total_that_counts_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sound(tmp_path / "m", tie_word_embeddings=True)
    each(says(tie_word_embeddings=False), lambda own: announcing(own, "model.embed"))(folder)
    spoiled = files(folder)
    assert (fix(folder, "--write"), files(folder)) == (1, spoiled)
    said = capsys.readouterr().out
    assert "With --only HF201: Set tie_word_embeddings to true" in said
    assert "Another finding contradicts it: metadata.total_size" in said
    assert fix(folder, "--write", "--only", "HF201") == 1
    assert files(folder)[INDEX] == spoiled[INDEX]
    assert fix(folder, "--write") == 1
    assert files(folder)[INDEX] == spoiled[INDEX]
    assert fix(folder, "--write", "--only", "HF401") == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("given", "spoil"), REPAIRED.values(), ids=REPAIRED)
def test_what_was_wrong_is_right_again_to_the_byte(
    given: Json, spoil: Spoil, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sound(tmp_path / "m", **given)
    before = files(folder)
    spoil(folder)
    spoiled = files(folder)
    assert fix(folder) == 1
    assert files(folder) == spoiled  # nothing is written unasked
    assert "Nothing was changed. Run again with --write" in capsys.readouterr().out
    assert fix(folder, "--write") == 0
    assert "Checked again: verified." in capsys.readouterr().out
    restored(folder, before, spoiled)
    left = files(folder)
    assert fix(folder, "--write") == 0
    assert files(folder) == left
    assert fix(folder, "--undo") == 0
    assert files(folder) == spoiled
    assert not (folder / ".cache").exists()


def restored(folder: Path, before: Files, spoiled: Files) -> None:
    """All is as it was before, and what it was meanwhile is kept."""
    after, originals = files(folder), kept(folder)
    assert {name: data(one) for name, one in after.items()} == {name: data(one) for name, one in before.items()}
    changed = {name for name in spoiled if spoiled[name] != after.get(name)}
    expected = {f"{name}.header": header(spoiled[name]) for name in changed if name.endswith(".safetensors")}
    assert originals == expected | {name: spoiled[name] for name in changed if not name.endswith(".safetensors")}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("given", "spoil", "options"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.long] * (number % 2))
        for number, (name, case) in enumerate(ASKED.items())
    ],
)
def test_what_may_be_lost_or_loads_is_done_only_if_it_is_asked_for(
    given: Json, spoil: Spoil, options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sound(tmp_path / "m", **given)
    before = files(folder)
    spoil(folder)
    spoiled, verdict = files(folder), hfcount.verify(str(folder)).verdict
    assert fix(folder, "--write") == (verdict not in ("verified", "explained"))
    assert files(folder) == spoiled
    said = capsys.readouterr().out
    if "--only" in options:
        assert "   Not applied automatically: " in said
        code = options.split()[-1]
        assert f"   With --only {code}: " in said or not code.startswith("HF")
    fix(folder, "--write", *options.split())
    after = files(folder)
    if "totals contradict" not in options:
        assert after[CONFIG] == before[CONFIG]


def data(raw: bytes) -> object:
    """A weight file's tensors and data, whatever spaces its header ends with; another file as it is."""
    if raw[8:9] != b"{" or raw[:1] == b"{":
        return raw
    size = 8 + int.from_bytes(raw[:8], "little")
    return json.loads(raw[8:size]), raw[size:]


PREFIXES = ["module.", "_orig_mod.", "base_model.model.", "module._orig_mod.", "pretrained_model.", "net."]


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_goes_from_headers_and_index(prefix: str, shards: int, tmp_path: Path) -> None:
    folder = sound(tmp_path / "m", shards=shards)
    before = files(folder)
    prefixed(prefix)(folder)
    sizes = {path.name: path.stat().st_size for path in folder.glob("*.safetensors")}
    assert fix(folder, "--write") == 0
    after = files(folder)
    assert {name: data(after[name]) for name in before} == {name: data(one) for name, one in before.items()}
    assert {name: len(after[name]) for name in sizes} == sizes  # so that no data had to move


@pytest.mark.long
def test_a_prefix_within_names_and_of_layers_that_the_config_lacks(tmp_path: Path) -> None:
    folder = sound(tmp_path / "m", "llama")
    before = files(folder)
    each(named(lambda name: name.replace("layers.", "layers._orig_mod.")), says(num_hidden_layers=2))(folder)
    wrapped = files(folder)
    # Of the layer that the config lacks, nothing says whether it is left over.
    assert (fix(folder, "--write"), files(folder)) == (1, wrapped)
    assert fix(folder, "--write", "--only", "HF211") == 1
    assert fix(folder, "--write", "--only", "HF202") == 0
    after = files(folder)
    assert {name: data(after[name]) for name in before} == {name: data(one) for name, one in before.items()}


def test_what_transformers_converts_is_renamed_if_it_is_asked_for(tmp_path: Path) -> None:
    folder = sound(tmp_path / "m", shards=1)
    before = files(folder)
    named(lambda name: name.removeprefix("model."))(folder)
    assert (fix(folder, "--write"), len(files(folder))) == (0, 2)
    assert fix(folder, "--write", "--only", "name-differs") == 0
    assert data(files(folder)[ONE]) == data(before[ONE])  # the header is longer, and the data has moved


def recorded(name: str) -> Json:
    path = ARCHITECTURES / f"{name}.json"
    values: Json = json.loads(path.read_text())["config"]
    return values


def test_a_list_of_another_stack_that_happens_to_be_as_long_stays(tmp_path: Path) -> None:
    """LED's windows are those of the layers of its encoder."""
    values = recorded("led") | {"encoder_layers": 4, "decoder_layers": 4, "attention_window": [8] * 4}
    write_checkpoint(tmp_path / "m", values | {"decoder_layers": 3}, 1)
    (tmp_path / "m" / CONFIG).write_text(json.dumps(values))
    assert fix(tmp_path / "m", "--write", "--only", "HF201") == 0
    assert json.loads((tmp_path / "m" / CONFIG).read_text()) == values | {"decoder_layers": 3}


WINDOWS: list[tuple[Any, bool]] = [(8, True), ([8, 4], True), ([8], False), ([8, 8, 8], False), ([], False), (7, False)]


@pytest.mark.parametrize(("windows", "built"), [*WINDOWS, (0, False), ([8, 7], False)])
@pytest.mark.parametrize("name", ["led", "longformer"])
def test_windows_that_no_model_is_built_with(name: str, windows: Any, built: bool, tmp_path: Path) -> None:
    layers = dict.fromkeys(("encoder_layers",) if name == "led" else ("num_hidden_layers",), 2)
    folder = write_checkpoint(tmp_path / "m", recorded(name) | layers, 1)
    says(attention_window=windows)(folder)
    assert [one.code for one in hfcount.verify(str(folder)).findings] == ([] if built else ["HF103"])


def leftover(folder: Path) -> None:
    """Settings of a quantisation in two files."""
    says(quantization_config=FP8)(folder)
    (folder / "hf_quant_config.json").write_text(
        json.dumps({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}})
    )


def test_settings_of_a_quantisation_in_two_files(tmp_path: Path) -> None:
    folder = sound(tmp_path / "m")
    before = files(folder)
    leftover(folder)
    assert fix(folder, "--write") == 0
    assert files(folder) == before


def dense(folder: Path, *modules: str, **settings: Any) -> Path:
    """FP8 in blocks, of which some modules are stored dense."""
    made = sharded()
    in_blocks(made)
    made.config["quantization_config"] = made.config["quantization_config"] | settings
    shapes = {name: shape for name, (_, shape) in made.tensors.items()}
    weights = {f"{one}.weight" for one in modules}
    made.change(lambda name, *one: None if name.removesuffix("_scale_inv") in weights else one)
    made.add({name: ("BF16", shapes[name]) for name in weights})
    return made.write(folder)


@pytest.mark.parametrize("listed", [None, ["lm_head"]])
def test_a_module_that_is_stored_dense_is_excluded(listed: list[str] | None, tmp_path: Path) -> None:
    """With those that loaders leave out by themselves only where nothing is listed."""
    folder = dense(tmp_path / "m", "model.layers.1.self_attn.o_proj", modules_to_not_convert=listed)
    assert fix(folder, "--write") == 0
    settings = json.loads((folder / CONFIG).read_text())["quantization_config"]
    assert sorted(settings["modules_to_not_convert"]) == ["lm_head", "model.layers.1.self_attn.o_proj"]


@pytest.mark.parametrize("listed", [7, "lm_head", {"lm_head": True}])
def test_exclusions_that_are_no_list_are_not_completed(listed: Any, tmp_path: Path) -> None:
    folder = dense(tmp_path / "m", "model.layers.1.self_attn.o_proj", modules_to_not_convert=listed)
    before = files(folder)
    assert fix(folder, "--write") == 1
    assert files(folder) == before


def test_layers_that_are_not_stored_are_announced_no_more_if_it_is_asked_for(tmp_path: Path) -> None:
    folder = predicting(False).write(tmp_path / "m")
    assert (fix(folder, "--write"), kept(folder)) == (0, {})
    assert fix(folder, "--write", "--only", "auxiliary-absent") == 0
    assert hfcount.verify(str(folder)).verdict == "verified"


OPEN: dict[str, Callable[[Path], Path]] = {
    "several values fit": lambda folder: spoiled(sound(folder, "llama", hidden_size=16), says(num_key_value_heads=4)),
    "another architecture": lambda folder: spoiled(sound(folder, "qwen2"), says(model_type="llama")),
    "the config of another model": lambda folder: spoiled(
        sound(folder), says(vocab_size=56, hidden_size=16, intermediate_size=24, head_dim=4)
    ),
    "an adapter that is not merged": lambda folder: with_adapter(sharded()).write(folder),
    "a token without a row": lambda folder: spoiled(sound(folder), content("added_tokens.json", '{"<x>": 50}')),
    "a layer within is lost": lambda folder: write("a layer within is missing", folder),
    "a file is lost": lambda folder: spoiled(sound(folder), lambda own: (own / SECOND).unlink()),
    "a file is lost, and a config would fit without it": lambda folder: losing(folder, "lm_head.weight"),
    "a file with the last layer is lost": lambda folder: losing(folder, "model.layers.2."),
    "tensors are lost, and the index still names them": lambda folder: losing(folder, "lm_head.weight", within=True),
    "the head under another name": lambda folder: spoiled(
        sound(folder), named(lambda name: name.replace("lm_head", "model.lm_head"))
    ),
    "no weight is packed, and half of each MLP": lambda folder: spoiled(
        sound(folder, "llama"), says(quantization_config=FP8, intermediate_size=48)
    ),
    "a dtype that nobody knows, and half of each MLP": lambda folder: spoiled(
        sound(folder, "llama"), says(dtype="fp16", intermediate_size=48)
    ),
    "a prefix, and a tensor that nothing describes": lambda folder: spoiled(
        sound(folder), named(lambda name: f"module.{name.replace('up_proj', 'up')}")
    ),
    "a total of a head besides what the class has": lambda folder: spoiled(
        sound(folder), says(architectures=["Qwen3Model"])
    ),
    "a file is cut off": lambda folder: write("truncated", folder),
    "one tensor in two files": lambda folder: write("a tensor in two files", folder),
    "scales are lost": lambda folder: write("FP8 in blocks, and all scales are lost", folder),
    "one of two that servers join is dense": lambda folder: dense(folder, "model.layers.1.mlp.up_proj"),
    "pickled weights": lambda folder: without_shapes(folder),
    "nothing": lambda folder: sound(folder),
}


def losing(folder: Path, part: str, within: bool = False) -> Path:
    """The file of some tensors is not there; or, `within` a file, these tensors."""
    made = sharded()
    lost = {name: one for name, one in made.tensors.items() if name.startswith(part)}
    made.change(lambda name, *one: None if name in lost else one)
    made.shards["model-00004-of-00004.safetensors"] = lost
    made.map()
    if within:
        made.weight_map = made.map() | dict.fromkeys(lost, THIRD)
    del made.shards["model-00004-of-00004.safetensors"]
    return made.write(folder)


def without_shapes(folder: Path) -> Path:
    """Pickled weights, of whose tensors only the names are known."""
    made = spoiled(sound(folder, "llama"), says(num_hidden_layers=2))
    index = (folder / INDEX).read_text().replace(".safetensors", ".bin")
    (folder / "pytorch_model.bin.index.json").write_text(index)
    (folder / INDEX).unlink()
    for path in folder.glob("*.safetensors"):
        path.rename(path.with_suffix(".bin"))
    return made


def spoiled(folder: Path, spoil: Spoil) -> Path:
    spoil(folder)
    return folder


def with_adapter(checkpoint: Checkpoint) -> Checkpoint:
    checkpoint.rename(lambda name: f"base_model.model.{name}")
    checkpoint.add({"base_model.model.model.layers.0.self_attn.q_proj.lora_A.default.weight": ("BF16", (4, 12))})
    return checkpoint


LARGE = "a file is lost"  # with half of the layers, which is searched for longest: of the others each lacks less
MAKES = [
    pytest.param(make, id=name, marks=[pytest.mark.long] * (name == LARGE or number % 2))
    for number, (name, make) in enumerate(OPEN.items())
]


@pytest.mark.parametrize("make", MAKES)
def test_what_is_not_proven_is_left(make: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = make(tmp_path / "m")
    before, verdict = files(folder), hfcount.verify(str(folder)).verdict
    assert fix(folder, "--write") == (verdict not in ("verified", "explained"))
    assert files(folder) == before


def test_one_of_several_values_is_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sound(tmp_path / "m", "llama", hidden_size=16)
    before = files(folder)
    says(num_key_value_heads=4)(folder)
    assert fix(folder) == 1
    assert "choose one with --set KEY=VALUE" in capsys.readouterr().out
    assert fix(folder, "--write", "--set", "num_key_value_heads=3") == 1  # which fits nothing
    assert fix(folder, "--write", "--set", "num_key_value_heads=2") == 0
    assert files(folder)[CONFIG] == before[CONFIG]


def test_only_what_is_asked_for(tmp_path: Path) -> None:
    folder = sound(tmp_path / "m")
    before = files(folder)
    each(says(vocab_size=56), claims(total_parameters=7))(folder)
    assert fix(folder, "--write", "--only", "HF301") == 0  # what is left is a note
    assert files(folder)[CONFIG] == before[CONFIG]
    assert json.loads(files(folder)[INDEX])["metadata"]["total_parameters"] == 7


def test_the_diff_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sound(tmp_path / "m")
    each(prefixed("module."), says(vocab_size=44))(folder)
    fix(folder)
    shown = capsys.readouterr().out
    for line in (
        "--- a/config.json",
        "+++ b/config.json",
        '-  "vocab_size": 44',
        '+  "vocab_size": 50',
        f"--- a/{FIRST}",
        "-module.model.layers.{0-1}.self_attn.q_norm.weight",
        "+model.layers.{0-1}.self_attn.q_norm.weight",
    ):
        assert line in shown


def test_a_diff_cannot_write_to_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sound(tmp_path / "m")
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace('"vocab_size": 50', '"v": "\x7f\u202e",\n  "vocab_size": 44'))
    assert fix(folder) == 1
    assert not {"\x7f", "\u202e"} & set(capsys.readouterr().out)


def test_repairs_are_undone_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sound(tmp_path / "m")
    whole, states = files(folder), []
    for number, rows in enumerate((44, 40, 36), 1):
        says(vocab_size=rows)(folder)
        states.append(files(folder))
        assert fix(folder, "--write") == 0
        assert json.loads(kept(folder, number)[CONFIG])["vocab_size"] == rows
    (beside,) = unread(hfcount.verify(str(folder)).not_looked_at)
    assert (beside.kind, beside.count) == ("originals kept by hfcount fix", 3)
    assert {*files(folder)} == {*whole}
    assert fix(folder, "--undo") == 0
    assert files(folder) == states[2]
    with pytest.raises(HfcountError, match="was changed after fix wrote it"):
        fix(folder, "--undo")
    assert files(folder) == states[2]
    capsys.readouterr()


def test_a_name_that_was_left_by_an_earlier_version_is_named(tmp_path: Path) -> None:
    folder = sound(tmp_path / "m", shards=1)
    shutil.copy(folder / ONE, folder / f"{ONE}.bak")
    (beside,) = unread(hfcount.verify(str(folder)).not_looked_at)
    assert (beside.kind, beside.files) == ("backups", (f"{ONE}.bak",))


def test_json_says_what_the_text_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sound(tmp_path / "m")
    says(vocab_size=44)(folder)
    codes = [fix(folder, "--json"), fix(folder, "--write", "--json"), fix(folder, "--undo", "--json")]
    shown, written, undone = map(json.loads, capsys.readouterr().out.splitlines())
    assert codes == [1, 0, 0]
    assert (shown["verdict"], shown["expected"], shown["after"]) == ("mismatch", "verified", None)
    assert [(repair["codes"], repair["files"]) for repair in shown["repairs"]] == [(["HF301"], [CONFIG])]
    assert (written["after"], [one["file"] for one in written["written"]]) == ("verified", [CONFIG])
    assert undone["undone"] == [{"file": CONFIG, "removed": False}]


def test_a_report_points_to_fix_only_where_it_has_a_repair(tmp_path: Path) -> None:
    folder = sound(tmp_path / "m", shards=1)
    says(vocab_size=44)(folder)
    texts = [CliRunner().invoke(main, [str(folder)], standalone_mode=False).output]
    (folder / ONE).write_bytes((folder / ONE).read_bytes()[:-8])
    texts.append(CliRunner().invoke(main, [str(folder)], standalone_mode=False).output)
    assert ["`hfcount fix" in text for text in texts] == [True, False]


def test_there_is_nothing_to_undo(tmp_path: Path) -> None:
    folder = sound(tmp_path / "m")
    with pytest.raises(HfcountError, match="nothing to undo"):
        fix(folder, "--undo")
    with pytest.raises(click.UsageError, match="--undo goes without"):
        fix(folder, "--undo", "--write")


def test_a_link_is_replaced_and_what_it_leads_to_is_not(tmp_path: Path) -> None:
    folder, elsewhere = sound(tmp_path / "m"), tmp_path / "elsewhere"
    says(vocab_size=44)(folder)
    shutil.move(folder / CONFIG, elsewhere)
    (folder / CONFIG).symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert fix(folder, "--write") == 0
    assert (elsewhere.read_bytes(), (folder / CONFIG).is_symlink()) == (before, False)
    assert fix(folder, "--undo") == 0
    assert os.readlink(folder / CONFIG) == str(elsewhere)


def test_the_cache_of_hugging_face_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "models--a--b" / "snapshots" / ("0" * 40)
    (tmp_path / "models--a--b" / "blobs").mkdir(parents=True)
    folder.parent.mkdir()
    spoiled(sound(folder), says(vocab_size=44))
    for path in (folder, tmp_path / "link"):
        if path != folder:
            path.symlink_to(folder)
        with pytest.raises(click.UsageError, match="is in the Hugging Face cache"):
            fix(path, "--write")


@pytest.mark.parametrize("path", ["org/name", "https://huggingface.co/org/name", "nowhere"])
def test_what_is_no_folder_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.UsageError, match="is not a local folder"):
        find("fix").main([path], standalone_mode=False)


def test_modes_are_kept(tmp_path: Path) -> None:
    folder = sound(tmp_path / "m", shards=1)
    each(prefixed("module."), says(vocab_size=44))(folder)
    (folder / ONE).chmod(0o640)
    (folder / CONFIG).chmod(0o600)
    assert fix(folder, "--write") == 0
    assert [(folder / name).stat().st_mode & 0o777 for name in (ONE, CONFIG)] == [0o640, 0o600]


OTHERS = {
    "model_index.json": "name the folder of one of them",
    "*.gguf": "which `hfcount fix` does not take",
    "pytorch_lora_weights.safetensors": "has a LoRA of a diffusion model|holds no tensor of a LoRA",
}
"""Files of forms of which nothing is repaired, and what is said of these."""


@pytest.mark.parametrize("name", spread(CASES, 20))
def test_no_repair_makes_anything_worse(name: str, tmp_path: Path) -> None:
    folder = write(name, tmp_path / "m")
    if other := next((says for pattern, says in OTHERS.items() if any(folder.glob(pattern))), None):
        with pytest.raises(HfcountError, match=other):
            planned(folder)
        return
    plan = planned(folder)
    before, after = plan.before.report, plan.after.report
    order = ["verified", "explained", "unverified", "mismatch"]
    assert order.index(after.verdict) <= order.index(before.verdict)
    assert not plan.steps or {finding.code for finding in after.findings} < {one.code for one in before.findings}


def test_what_cannot_be_described_is_left(tmp_path: Path) -> None:
    folder = single().write(tmp_path / "m")
    (folder / CONFIG).write_text('{"model_type": "nobody-knows-this"}')
    before = files(folder)
    with pytest.raises(UnknownArchitecture):
        fix(folder, "--write")
    assert files(folder) == before
