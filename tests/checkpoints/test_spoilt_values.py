"""Values that cut downloads and bad writers leave, and those that look like them and are meant."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build import TINY, config, shard
from tables import over
from valued import VALUED, changed, copied, filled, header, place, steps, times, with_hole

import hfcount

Spoil = Callable[[Path], None]

LAYER = "model.layers.{}."
UP, DOWN = LAYER.format(1) + "mlp.up_proj.weight", LAYER.format(1) + "mlp.down_proj.weight"
KEYS, NORM = LAYER.format(1) + "self_attn.k_proj.weight", LAYER.format(1) + "input_layernorm.weight"
ROUTER = LAYER.format(1) + "mlp.experts.{}.up_proj.weight"
SIZES = {"hidden_size": 24, "intermediate_size": 800, "num_hidden_layers": 4}
LLAMA, MOE = config("llama", **SIZES), config("qwen3_moe")
ONE = 0x3F80  # in BF16


def _model(folder: Path, values: dict[str, Any]) -> Path:
    """A model whose values are all random."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(values))
    (folder / "model.safetensors").write_bytes(
        shard({one.name: one.shape for one in hfcount.blueprint(values).tensors()})
    )
    filled(folder / "model.safetensors", 1)
    return folder


def _layer(number: int, of: int) -> Spoil:
    """A layer with the weights of another one."""

    def spoil(folder: Path) -> None:
        names = [name for name in header(folder / "model.safetensors")[0] if name.startswith(LAYER.format(number))]
        steps(*(copied(name, name.replace(LAYER.format(number), LAYER.format(of))) for name in names))(folder)

    return spoil


def _silent(number: int) -> Spoil:
    """A layer that writes nothing, as one that was added and not trained yet."""
    names = (LAYER.format(number) + part for part in ("self_attn.o_proj.weight", "mlp.down_proj.weight"))
    return steps(*map(_zeroed, names))


def _experts(layers: range, experts: range) -> Spoil:
    """Experts with the weights of the first of their layer."""

    def spoil(folder: Path) -> None:
        for name in header(folder / "model.safetensors")[0]:
            for layer in layers:
                for expert in experts:
                    here = f"{LAYER.format(layer)}mlp.experts.{expert}."
                    if name.startswith(here):
                        copied(name, name.replace(here, f"{LAYER.format(layer)}mlp.experts.0."))(folder)

    return spoil


def _norms(folder: Path) -> None:
    names = [name for name in header(folder / "model.safetensors")[0] if "norm" in name]
    steps(*(changed(name, lambda codes: np.full_like(codes, ONE)) for name in names))(folder)


def _pruned(share: float) -> Spoil:
    """Some values of all matrices of the layers are zero."""

    def spoil(folder: Path) -> None:
        random = np.random.default_rng(0)
        for name in header(folder / "model.safetensors")[0]:
            if "proj" in name:
                changed(name, lambda codes: np.where(random.random(codes.shape) < share, 0, codes))(folder)

    return spoil


def _without_rows(share: float) -> Spoil:
    """Some rows of all matrices of the layers are zero."""

    def spoil(folder: Path) -> None:
        random = np.random.default_rng(0)
        for name in header(folder / "model.safetensors")[0]:
            if "proj" in name:
                changed(name, lambda codes: np.where(random.random((len(codes), 1)) < share, 0, codes))(folder)

    return spoil


def _zero(first: int, last: int) -> Callable[[np.ndarray], np.ndarray]:
    """Makes some values zero, by their numbers."""

    def change(codes: np.ndarray) -> np.ndarray:
        codes.reshape(-1)[first:last] = 0
        return codes

    return change


def _block(first: int, second: int, size: int = 4096) -> Callable[[np.ndarray], np.ndarray]:
    """Gives some bytes the values of others."""

    def change(codes: np.ndarray) -> np.ndarray:
        raw = codes.reshape(-1).view("u1")
        raw[second : second + size] = raw[first : first + size].copy()
        return codes

    return change


def _whole_expert(layer: int, expert: int, change: Callable[[str], Spoil]) -> Spoil:
    """Changes all matrices of an expert."""
    names = (f"{LAYER.format(layer)}mlp.experts.{expert}.{part}_proj.weight" for part in ("gate", "up", "down"))
    return steps(*map(change, names))


def _eye(codes: np.ndarray) -> np.ndarray:
    made = np.zeros_like(codes)
    np.fill_diagonal(made, ONE)
    return made


def _zeroed(name: str) -> Spoil:
    return changed(name, np.zeros_like)


def _columns_and_rows(codes: np.ndarray) -> np.ndarray:
    """As heads and rows that are pruned."""
    codes[:, :200] = 0
    codes[3:6] = 0
    return codes


# The model, what becomes of it, the findings and the severity of the first, and words of its message
ROWS: dict[str, tuple[dict[str, Any], Spoil, str, str]] = {
    "values of chance": (LLAMA, steps(), "", ""),
    "the end of a matrix": (LLAMA, changed(UP, _zero(6000, 19200)), "HF908 error", "rows 250 to 799, bytes"),
    "half of the rows": (LLAMA, changed(UP, _zero(0, 9600)), "HF908 error", "is zero in rows 0 to 399"),
    "half of the rows of all layers": (
        LLAMA,
        steps(*(changed(UP.replace("s.1.", f"s.{layer}."), _zero(0, 9600)) for layer in range(4))),
        "",
        "",
    ),
    "a page in the middle": (LLAMA, with_hole(UP, 3, 4), "HF915 error", "the file has a hole there"),
    "a hole that ends within a row": (LLAMA, changed(DOWN, _zero(1700, 4200)), "HF908 error", "is zero in rows 2 to 5"),
    "columns and rows pruned": (LLAMA, changed(DOWN, _columns_and_rows), "", ""),
    "a block that was written again": (LLAMA, changed(UP, _block(4096, 16384)), "HF909 error", "bytes or more twice"),
    "a block behind itself": (LLAMA, changed(DOWN, _block(8192, 12288)), "HF909 error", "4,096 bytes after the first"),
    "blocks of heads of keys": (LLAMA, changed(KEYS, _block(0, 288, 288)), "", ""),
    "rows that repeat far behind": (
        LLAMA,
        changed(UP, lambda codes: np.concatenate([codes[:600], np.repeat(codes[600:601], 200, 0)])),
        "HF909 error",
        "repeats rows",
    ),
    "a matrix of another kind and layer": (
        LLAMA,
        copied(UP, UP.replace("s.1.", "s.2.").replace("up_", "gate_")),
        "HF910 error",
        "nothing ties them",
    ),
    "identities": (LLAMA, steps(*(changed(KEYS.replace("s.1.", f"s.{n}."), _eye) for n in (1, 2))), "", ""),
    "an expert that nothing reaches": (
        MOE,
        _whole_expert(1, 2, lambda name: times(name, 1e-5)),
        "HF911 note",
        "root mean square",
    ),
    "one matrix of an expert": (MOE, times(ROUTER.format(2), 1e-5), "HF911 error", "root mean square"),
    "a few rows": (LLAMA, changed(UP, _zero(4800, 5280)), "", ""),
    "the end of a head": (LLAMA, changed("lm_head.weight", _zero(985, 1200)), "HF908 error", "lm_head.weight"),
    "a hole in an embedding": (
        LLAMA,
        changed("model.embed_tokens.weight", _zero(240, 500)),
        "HF908 error",
        "embed_tokens",
    ),
    "rows of a head": (LLAMA, changed("lm_head.weight", _zero(600, 1200)), "", ""),
    "rows of padding": (LLAMA, changed("model.embed_tokens.weight", _zero(600, 1200)), "", ""),
    "half of the values pruned": (LLAMA, _pruned(0.5), "", ""),
    "nearly all values pruned": (LLAMA, _pruned(0.995), "", ""),
    "half of the rows pruned": (LLAMA, _without_rows(0.5), "", ""),
    "most rows pruned": (LLAMA, _without_rows(0.9), "", ""),
    "all rows the same": (LLAMA, changed(UP, lambda codes: np.repeat(codes[:1], 800, 0)), "HF909 error", "63 of 63"),
    "each row twice": (LLAMA, changed(UP, lambda codes: np.repeat(codes[:400], 2, 0)), "HF909 error", "repeats rows"),
    "all columns the same": (LLAMA, changed(UP, lambda codes: np.repeat(codes[:, :1], 24, 1)), "HF909 error", "equal"),
    "each column twice": (LLAMA, changed(UP, lambda codes: np.repeat(codes[:, :12], 2, 1)), "HF909 error", "twice"),
    "one half twice": (LLAMA, changed(UP, lambda codes: np.tile(codes[:400], (2, 1))), "HF909 error", "rows 2 times"),
    "keys for two groups of heads": (LLAMA, changed(KEYS, lambda codes: np.tile(codes[:6], (2, 1))), "", ""),
    "up is gate": (LLAMA, copied(UP, UP.replace("up_", "gate_")), "HF910 error", "nothing ties them"),
    "a matrix of another layer": (LLAMA, copied(UP, UP.replace("s.1.", "s.0.")), "HF910 error", "layers.0.mlp.up_proj"),
    "a layer of another one": (LLAMA, _layer(2, 1), "HF910 error", "layers.2 has the same weights as"),
    "a range of layers": (LLAMA, steps(_layer(2, 0), _layer(3, 1)), "HF910 note", "layers.2 to 3 have the same"),
    "layers that were added": (
        LLAMA,
        steps(_layer(1, 0), _layer(3, 2), _silent(1), _silent(3)),
        "HF910 note",
        "model.layers.1, 3 have the same weights as model.layers.0, 2",
    ),
    "a layer that was added": (LLAMA, steps(_layer(2, 1), _silent(2)), "HF910 note", "layers.2 has the same weights"),
    "one row of two": (
        config("llama", **SIZES, architectures=["LlamaForSequenceClassification"], num_labels=2),
        changed("score.weight", _zero(0, 24)),
        "",
        "",
    ),
    "layers that began as copies": (LLAMA, steps(_norms, *(_layer(number, 0) for number in (1, 2, 3))), "", ""),
    "an expert of another one": (MOE, _experts(range(1), range(1, 2)), "HF910 error", "Expert model.layers.0.mlp.exp"),
    "all experts of a layer": (MOE, _experts(range(1), range(8)), "HF910 error", "Expert"),
    "all experts of all layers": (MOE, _experts(range(3), range(8)), "HF910 note", "All experts of"),
    "norms of ones": (LLAMA, _norms, "", ""),
    "a matrix times 1e28": (LLAMA, times(UP, 1e28), "HF911 error", "in other layers it is 0.0"),
    "a matrix times 1e-14": (LLAMA, times(UP, 1e-14), "HF911 error", "root mean square of"),
    "a norm times 1e6": (LLAMA, times(NORM, 1e7), "HF911 error", NORM),
    "an output after one step": (LLAMA, times(DOWN, 2e-4), "", ""),
    "a matrix 1,000 times too small": (LLAMA, times(UP, 2e-4), "HF911 error", UP),
}  # fmt: skip


@over("name", ROWS, every=3)
def test_what_was_lost_is_found_and_what_is_meant_is_not(name: str, tmp_path: Path) -> None:
    values, spoil, expected, words = ROWS[name]
    folder = _model(tmp_path / f"m{[*ROWS].index(name)}", values)
    spoil(folder)
    report = hfcount.verify(folder, depth="data")
    found = [one for one in report.findings if "HF908" <= one.code <= "HF919"]
    assert " ".join(dict.fromkeys(f"{one.code} {one.severity}" for one in found)) == expected
    assert not found or words in found[0].message


def test_the_same_copies_in_all_layers_are_one_finding(tmp_path: Path) -> None:
    folder = _model(tmp_path / "m", LLAMA)
    names = [UP.replace("s.1.", f"s.{layer}.") for layer in range(4)]
    steps(*(copied(name, name.replace("up_", "gate_")) for name in names))(folder)
    (finding,) = hfcount.verify(folder, depth="data").findings
    assert (finding.code, finding.tensors, finding.count) == ("HF910", ("model.layers.{0-3}.mlp.up_proj.weight",), 4)
    assert "model.layers.0.mlp.gate_proj.weight" in finding.message


def test_a_verdict_counts_the_findings_of_one_code(tmp_path: Path) -> None:
    folder = _model(tmp_path / "m", LLAMA)
    steps(copied(UP, UP.replace("up_", "gate_")), copied(DOWN, DOWN.replace("s.1.", "s.0.")))(folder)
    assert "mismatch: 2 errors (HF910 copied-weights 2 times)" in str(hfcount.verify(folder, depth="data"))


def test_an_expert_that_was_pruned_is_a_note(tmp_path: Path) -> None:
    folder = _model(tmp_path / "m", MOE)
    _whole_expert(1, 2, _zeroed)(folder)
    found = hfcount.verify(folder, depth="data").findings
    assert [(one.code, one.severity) for one in found] == [("HF903", "note")]
    _zeroed(ROUTER.format(3))(folder)
    assert ("HF903", "error") in [(one.code, one.severity) for one in hfcount.verify(folder, depth="data").findings]


def test_all_experts_of_a_layer_are_no_pruning(tmp_path: Path) -> None:
    """Tokens are routed to some experts of every layer."""
    for change, code in ((_zeroed, "HF903"), (lambda name: times(name, 1e-5), "HF911")):
        folder = _model(tmp_path / code, MOE)
        steps(*(_whole_expert(1, expert, change) for expert in range(8)))(folder)
        found = hfcount.verify(folder, depth="data").findings
        assert {(one.code, one.severity) for one in found} == {(code, "error")}


def test_float32_that_holds_pairs_of_bfloat16_is_seen(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    folder = tmp_path / "m"
    folder.mkdir()
    values = LLAMA | {"dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(values))
    shapes = {one.name: one.shape for one in hfcount.blueprint(values).tensors()}
    (folder / "model.safetensors").write_bytes(shard(shapes, "F32", 4))
    filled(folder / "model.safetensors", 1)
    assert hfcount.verify(folder, depth="data").verdict == "verified"
    noise = random.standard_normal((800, 24, 2)).astype(np.float32) / 50
    pairs = (noise.view(np.uint32) >> 16).astype("<u2").view("<u4")[..., 0]
    tensors, start = header(folder / "model.safetensors")
    with (folder / "model.safetensors").open("r+b") as stream:
        stream.seek(start + tensors[UP]["data_offsets"][0])
        stream.write(pairs.tobytes())
    (found,) = hfcount.verify(folder, depth="data").findings
    assert (found.code, "its bits look like BF16" in found.message) == ("HF912", True)


@pytest.mark.parametrize("depth", ["auto", "headers", "data"])
def test_holes_are_seen_at_any_depth(depth: Any, tmp_path: Path) -> None:
    folder = _model(tmp_path / "m", LLAMA)
    with_hole(UP, 3, 5)(folder)
    report = hfcount.verify(folder, depth=depth)
    assert [one.code for one in report.findings if one.code >= "HF9"] == ["HF915"]


@pytest.mark.parametrize(
    ("rows", "codes"), [((5, 13), []), ((4, 13), []), ((5, 12.5), ["HF908"]), ((5.5, 13), ["HF908"])]
)
def test_rows_may_begin_within_a_word(rows: tuple[float, float], codes: list[str], tmp_path: Path) -> None:
    """Rows of 1,001 values of 4 bytes are no multiple of 8 bytes."""
    values = LLAMA | {"intermediate_size": 1001, "dtype": "float32"}
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(values))
    shapes = {one.name: one.shape for one in hfcount.blueprint(values).tensors()}
    (folder / "model.safetensors").write_bytes(shard(shapes, "F32", 4))
    filled(folder / "model.safetensors", 1)
    file, begin, _ = place(folder, DOWN)
    first, last = (begin + 4 * int(row * 1001) for row in rows)
    raw = file.read_bytes()
    file.write_bytes(raw[:first] + bytes(last - first) + raw[last:])
    assert [one.code for one in hfcount.verify(folder, depth="data").findings] == codes


def test_holes_that_are_rows_of_zeros_are_meant(tmp_path: Path) -> None:
    folder = _model(tmp_path / "m", LLAMA)
    changed(UP, _zero(4800, 14400))(folder)
    with_hole(UP, 3, 5)(folder)
    assert hfcount.verify(folder).verdict == "verified"


def test_a_model_of_one_type_has_none(tmp_path: Path) -> None:
    for name in ("mistral", "qwen2", "mixtral"):
        folder = _model(tmp_path / name, dict(TINY[name]))
        assert hfcount.verify(folder, depth="data").verdict == "verified"


def test_packed_weights_of_another_layer(tmp_path: Path) -> None:
    """Nothing is summed of whole numbers, so that all layers have the same sums."""
    folder = VALUED["sound GPTQ"].write(tmp_path / "m")
    random = np.random.default_rng(0)
    for file in folder.glob("*.safetensors"):
        tensors, start = header(file)
        raw = bytearray(file.read_bytes())
        for name, entry in tensors.items():
            if name.endswith("qweight"):
                first, last = (start + offset for offset in entry["data_offsets"])
                raw[first:last] = random.bytes(last - first)
        file.write_bytes(raw)
    assert hfcount.verify(folder, depth="data").verdict == "verified"
    copied(LAYER.format(1) + "mlp.up_proj.qweight", LAYER.format(0) + "mlp.up_proj.qweight")(folder)
    assert [one.code for one in hfcount.verify(folder, depth="data").findings] == ["HF910"]
