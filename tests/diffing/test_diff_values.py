"""What is said of values: rounded, merged, overflowed, unrelated, of GGUF files, of modules and of parts."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gguf_files
import numpy as np
import pipeline_repos
import pytest
from build import TINY, config, named, raw, shard
from conftest import Command
from numpy.typing import NDArray
from tables import over
from test_diff import ADAPTER, BERT, DENSE, MOE, SINGLE, Json, Q, filled, told, written

import hfcount
from hfcount.checkpoints.data import compare
from hfcount.checkpoints.data.rounding import rounded
from hfcount.diffing.pieces import ValueRow
from hfcount.diffing.text import value_line
from hfcount.options import Expected

Arrays = dict[str, NDArray[np.float32]]
WIDTHS = {"F32": 4, "BF16": 2, "F16": 2}
WIDE = config("llama", hidden_size=64, intermediate_size=96, vocab_size=96, head_dim=16)
QWEN2 = TINY["qwen2"] | {
    key: WIDE[key] for key in ("hidden_size", "intermediate_size", "vocab_size", "num_hidden_layers")
}


def weights(values: Json, seed: int = 1) -> Arrays:
    """Random values of all tensors, those of norms near 1."""
    random = np.random.default_rng(seed)
    found: Arrays = {}
    for one in hfcount.blueprint(values).tensors():
        noise = random.standard_normal(tuple(map(int, one.shape))).astype(np.float32) / np.float32(16)
        found[one.name] = noise if len(one.shape) > 1 else (1 + noise / 16).astype(np.float32)
    return found


def coded(dtype: str, array: NDArray[np.float32]) -> bytes:
    """An array as torch casts it to that dtype."""
    if dtype == "BF16":
        return (rounded("BF16", array).view(np.uint32) >> 16).astype("<u2").tobytes()
    with np.errstate(over="ignore"):
        return array.astype({"F16": "<f2", "F32": "<f4"}[dtype]).tobytes()


def saved(folder: Path, values: Json, arrays: Arrays, dtype: str = "BF16") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(raw(values))
    whole = bytearray(shard({name: one.shape for name, one in arrays.items()}, dtype, WIDTHS[dtype]))
    begin = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:begin])
    for name, one in arrays.items():
        first, end = header[name]["data_offsets"]
        whole[begin + first : begin + end] = coded(dtype, one)
    (folder / SINGLE).write_bytes(whole)
    return folder


def changed(arrays: Arrays, by: float = 0.01, only: str = "", seed: int = 9) -> Arrays:
    """The same with a little added to those of such names."""
    random = np.random.default_rng(seed)
    return {
        name: one + random.standard_normal(one.shape).astype(np.float32) * np.float32(by) if only in name else one
        for name, one in arrays.items()
    }


def with_one(arrays: Arrays, name: str, value: float) -> Arrays:
    one = arrays[name].copy()
    one.flat[5] = value
    return {**arrays, name: one}


def through(arrays: Arrays, *dtypes: str) -> Arrays:
    for dtype in dtypes:
        arrays = {name: np.asarray(rounded(dtype, one), np.float32) for name, one in arrays.items()}
    return arrays


def less(arrays: Arrays, *names: str) -> Arrays:
    return {key: one for key, one in arrays.items() if not any(name in key for name in names)}


UP, NORM = "model.layers.1.mlp.up_proj.weight", "model.layers.1.input_layernorm.weight"
EMBED = "model.embed_tokens.weight"
W = weights(WIDE)
SMALL = {name: one * np.float32(1e-6) for name, one in W.items()}  # F16 has no such values
MASKED, CLASSES = (BERT | {"architectures": [name]} for name in ("BertForMaskedLM", "BertForSequenceClassification"))
OF_BERT = weights(MASKED) | weights(CLASSES)
BOTH = [{name: OF_BERT[name] for name in weights(one)} for one in (MASKED, CLASSES)]
BARE, SCORED = WIDE, WIDE | {"architectures": named("llama", "ForSequenceClassification")}
T5: Json = {
    "model_type": "t5",
    "architectures": ["T5ForConditionalGeneration"],
    "vocab_size": 40,
    "d_model": 16,
    "d_kv": 4,
    "d_ff": 24,
    "num_layers": 2,
    "num_heads": 4,
}
T5_ENCODER = T5 | {"architectures": ["T5EncoderModel"]}
OF_T5 = weights(T5)
PRUNED = MOE | {"num_experts": 4}
Side = tuple[Json, Arrays, str]

# A, B, what B is, the exit code, words of the summary, and which expectations hold
PAIRS: dict[str, tuple[Side, Side, set[str], int, str, dict[Expected, bool | None]]] = {
    "a cast": ((WIDE, W, "F32"), (WIDE, W, "BF16"), {"cast", "same-values"}, 1, "rounded", {"cast": True}),
    "a cast to more bits": (
        (WIDE, W, "BF16"),
        (WIDE, through(W, "BF16"), "F32"),
        {"cast", "same-values"},
        1,
        "A cast to F32",
        {"cast": True, "same": False},
    ),
    "two casts of one original": (
        (WIDE, W, "BF16"),
        (WIDE, W, "F16"),
        {"cast", "same-values"},
        1,
        "rounded (root mean square 0.1",
        {"cast": True, "finetune": False},
    ),
    "a cast by another dtype": (
        (WIDE, W, "F32"),
        (WIDE, through(W, "BF16"), "F16"),
        {"cast", "same-values"},
        1,
        "rounded through BF16",
        {"cast": True},
    ),
    "rounded on the way": (
        (WIDE, SMALL, "BF16"),
        (WIDE, through(SMALL, "BF16", "F16"), "BF16"),
        {"same-values"},
        1,
        "rounded through F16",
        {"same": False, "finetune": False},
    ),
    "a cast that overflows": (
        (WIDE, with_one(W, UP, 1e6), "BF16"),
        (WIDE, with_one(W, UP, 1e6), "F16"),
        {"cast", "finetune"},
        1,
        "different values in 1 of 30 tensors (1 in mlp), 1 value NaN or infinite",
        {"cast": False},
    ),
    "a cast of what was trained": (
        (WIDE, W, "BF16"),
        (WIDE, changed(W, 0.002), "F32"),
        {"cast", "finetune"},
        1,
        "is cast to F32",
        {"cast": False, "finetune": False},
    ),
    "NaN": (
        (WIDE, W, "BF16"),
        (WIDE, with_one(W, UP, float("nan")), "BF16"),
        {"finetune"},
        1,
        "(1 in mlp), 1 value NaN or infinite",
        {"finetune": False, "same": False, "cast": False, "quantised": False},
    ),
    "another model": (
        (WIDE, W, "BF16"),
        (WIDE, weights(WIDE, 2), "BF16"),
        {"another-model"},
        1,
        "unrelated values: ",
        {"finetune": False},
    ),
    "another model with more tensors": (
        (WIDE, W, "BF16"),
        (QWEN2, weights(QWEN2, 2), "BF16"),
        {"tensors", "another-model"},
        1,
        "unrelated values: ",
        {"finetune": False},
    ),
    "another head of another model": (
        (WIDE, W, "BF16"),
        (SCORED, weights(SCORED, 2), "BF16"),
        {"head", "another-model"},
        1,
        "score.weight instead of lm_head.weight",
        {},
    ),
    "experts of other numbers": (
        (MOE, weights(MOE), "BF16"),
        (PRUNED, {**weights(PRUNED, 2), **less(weights(MOE), ".experts.", "mlp.gate.")}, "BF16"),
        {"experts", "finetune"},
        1,
        "compared by layer number",
        {},
    ),
    "a head that reads a pooler": (
        (MASKED, BOTH[0], "F32"),
        (CLASSES, BOTH[1], "F32"),
        {"head", "same-values"},
        1,
        "adds bert.pooler.dense.weight, bert.pooler.dense.bias: BertForMaskedLM has none",
        {},
    ),
    "a head that reads none": (
        (CLASSES, BOTH[1], "F32"),
        (MASKED, BOTH[0], "F32"),
        {"head", "same-values"},
        1,
        "lacks A's bert.pooler.dense.weight, bert.pooler.dense.bias: BertForMaskedLM has none",
        {},
    ),
    "an encoder alone": (
        (T5, OF_T5, "F32"),
        (T5_ENCODER, {name: OF_T5[name] for name in weights(T5_ENCODER)}, "F32"),
        {"part", "same-values"},
        1,
        "T5EncoderModel has none",
        {},
    ),
}


def test_pairs(tmp_path: Path) -> None:
    wrong = {}
    for number, (name, (a, b, kinds, code, words, expectations)) in enumerate(PAIRS.items()):
        sides = [saved(tmp_path / str(number) / side, *one) for side, one in (("a", a), ("b", b))]
        found = hfcount.diff(*sides, depth="data")
        if (told(found), found.exit_code) != (kinds, code) or words not in found.summary:
            wrong[name] = found.summary
        for expected, met in expectations.items():
            told_ = hfcount.diff(*sides, depth="data", expect=expected).expectation
            if told_ is None or told_.met is not met:
                wrong[f"{name}, {expected}"] = told_.reason if told_ else "nothing"
    assert not wrong


NAN = float("nan")
TRAINED = changed(W, 0.002, "mlp")
LONGER = {**W, **{name: np.concatenate([W[name], W[name][:2]]) for name in (EMBED, "lm_head.weight")}}

# A, B, what is allowed, and whether `finetune` holds
INTRODUCED: dict[str, tuple[Side, Side, bool, bool]] = {
    "a sound fine-tune": ((WIDE, W, "BF16"), (WIDE, TRAINED, "BF16"), False, True),
    "NaN in what was trained": ((WIDE, W, "BF16"), (WIDE, with_one(TRAINED, UP, NAN), "BF16"), False, False),
    "an infinite norm": ((WIDE, W, "BF16"), (WIDE, with_one(TRAINED, NORM, float("-inf")), "BF16"), False, False),
    "NaN that is asked for": ((WIDE, W, "BF16"), (WIDE, with_one(TRAINED, UP, NAN), "BF16"), True, True),
    "NaN that A has": ((WIDE, with_one(W, UP, NAN), "BF16"), (WIDE, with_one(TRAINED, UP, NAN), "BF16"), False, True),
    "NaN that was mended": ((WIDE, with_one(W, UP, NAN), "BF16"), (WIDE, TRAINED, "BF16"), False, True),
}


@over("name", INTRODUCED)
def test_nan_that_only_b_has_is_never_expected(name: str, tmp_path: Path) -> None:
    a, b, allowed, met = INTRODUCED[name]
    folder = tmp_path / str([*INTRODUCED].index(name))
    sides = [saved(folder / side, *files) for side, files in (("a", a), ("b", b))]
    found = hfcount.diff(*sides, depth="data", expect="finetune", allow_nan=allowed)
    assert found.expectation
    assert (found.expectation.met, found.exit_code) == (met, 0 if met else 1), found.expectation.reason
    assert met or "NaN or infinite, and A's" in found.expectation.reason


LARGE = WIDE | {"intermediate_size": 200}
OF_LARGE = weights(LARGE)
_GATE, _UP = (f"model.layers.1.mlp.{part}_proj.weight" for part in ("gate", "up"))
UNRELATED = {
    "a layer with the values of another": {name: OF_LARGE[name.replace("layers.1.", "layers.0.")] for name in OF_LARGE},
    "a layer of zeros": {name: value * 0 if "layers.1." in name else value for name, value in OF_LARGE.items()},
    "two matrices exchanged": {**OF_LARGE, _GATE: OF_LARGE[_UP], _UP: OF_LARGE[_GATE]},
}


@pytest.mark.parametrize("name", UNRELATED)
def test_layers_of_other_values_are_no_finetune(name: str, tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", LARGE, OF_LARGE), saved(tmp_path / "b", LARGE, UNRELATED[name])
    found = hfcount.diff(a, b, depth="data", expect="finetune")
    assert found.expectation and "unrelated to A's" in found.summary
    assert (found.exit_code, "unrelated" in found.expectation.reason) == (1, True)


def test_pruned_weights_are_a_finetune(tmp_path: Path) -> None:
    pruned = {name: value * (abs(value) > 0.5 * abs(value).max()) for name, value in OF_LARGE.items()}
    a, b = saved(tmp_path / "a", LARGE, OF_LARGE), saved(tmp_path / "b", LARGE, pruned)
    assert hfcount.diff(a, b, depth="data", expect="finetune").exit_code == 0


def renumbered(arrays: Arrays, order: Mapping[int, int], stack: str = "layers.") -> Arrays:
    """The same with modules of a list under other numbers: `order` has that in B by that in A."""
    found = {}
    for name, array in arrays.items():
        before, text, after = name.partition(stack)
        number, dot, rest = after.partition(".")
        other = order.get(int(number), int(number)) if text else ""
        found[f"{before}{text}{other}{dot}{rest}"] = array
    return found


def parted(arrays: Arrays) -> Arrays:
    """The tensors of Phi-3 as Llama has them."""
    found: Arrays = {}
    for name, array in arrays.items():
        if "qkv_proj" in name:
            found |= {name.replace("qkv", one): part for one, part in zip("qkv", np.split(array, 3), strict=True)}
        elif "gate_up" in name:
            parts = np.split(array, 2)
            found |= {name.replace("gate_up", one): part for one, part in zip(("gate", "up"), parts, strict=True)}
        else:
            found[name] = array
    return found


PHI3 = {**WIDE, "model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "num_key_value_heads": 4, "pad_token_id": 0}
AS_LLAMA = {**PHI3, "model_type": "llama", "architectures": ["LlamaForCausalLM"]}
OF_PHI3, OF_MOE, CUT = weights(PHI3), weights(MOE), WIDE | {"num_hidden_layers": 2}
ROUTER = "model.layers.1.mlp.gate.weight"
TURNED = {
    **OF_MOE,
    **renumbered(
        {name: one for name, one in OF_MOE.items() if "layers.1.mlp.experts" in name},
        {number: (number + 1) % 8 for number in range(8)},
        "experts.",
    ),
    ROUTER: np.roll(OF_MOE[ROUTER], 1, axis=0),
}

# A, B, what B is, the exit code, and words of the summary
BY_CONTENTS: dict[str, tuple[Side, Side, set[str], int, str]] = {
    "layers in another order": (
        (WIDE, W, "BF16"),
        (WIDE, renumbered(W, {1: 2, 2: 1}), "BF16"),
        {"order", "same-values"},
        1,
        "holds A's layers in another order (layers: 1 is A's 2, 2 is A's 1)",
    ),
    "a layer taken out": (
        (WIDE, W, "BF16"),
        (CUT, renumbered(less(W, "layers.1."), {2: 1}), "BF16"),
        {"layers", "same-values"},
        1,
        "1 is A's 2",
    ),
    "experts turned": (
        (MOE, OF_MOE, "BF16"),
        (MOE, TURNED, "BF16"),
        {"order", "same-values"},
        1,
        "holds A's experts in another order",
    ),
    "experts turned, and not their router": (
        (MOE, OF_MOE, "BF16"),
        (MOE, {**TURNED, ROUTER: OF_MOE[ROUTER]}, "BF16"),
        {"order", "same-values"},
        1,
        "in another order",
    ),
    "a model as one of another type": (
        (PHI3, OF_PHI3, "BF16"),
        (AS_LLAMA, parted(OF_PHI3), "BF16"),
        {"same-values", "spelling", "reading"},
        1,
        "has other names or layouts for",
    ),
    "the same with another value": (
        (PHI3, OF_PHI3, "BF16"),
        (AS_LLAMA, with_one(parted(OF_PHI3), UP, 3.0), "BF16"),
        {"another-model"},
        1,
        "is another model",
    ),
}


@over("name", BY_CONTENTS)
def test_tensors_are_found_by_what_they_hold(name: str, tmp_path: Path) -> None:
    a, b, kinds, code, words = BY_CONTENTS[name]
    folder = tmp_path / str([*BY_CONTENTS].index(name))
    sides = [saved(folder / side, *files) for side, files in (("a", a), ("b", b))]
    found = hfcount.diff(*sides, depth="data")
    assert (told(found), found.exit_code, words in found.summary) == (kinds, code, True), found.summary
    expectations: tuple[Expected, ...] = ("same", "finetune")
    for expected in expectations:
        assert not hfcount.diff(*sides, depth="data", expect=expected).ok


def test_nan_of_tensors_that_a_does_not_have_is_not_expected(tmp_path: Path) -> None:
    longer = WIDE | {"vocab_size": WIDE["vocab_size"] + 2}
    spoilt = {**LONGER, EMBED: with_one(LONGER, EMBED, NAN)[EMBED]}
    a, b = saved(tmp_path / "a", WIDE, W), saved(tmp_path / "b", longer, spoilt)
    for allowed, words in ((False, f"1 value of B is NaN or infinite, and A's is not: {EMBED}"), (True, "structure")):
        found = hfcount.diff(a, b, depth="data", expect="finetune", allow_nan=allowed)
        assert found.expectation
        assert (found.expectation.met, words in found.expectation.reason) == (False, True)


def test_the_exit_code_goes_by_values_where_all_are_read(command: Command, tmp_path: Path) -> None:
    saved(tmp_path / "a", WIDE, W)
    saved(tmp_path / "b", WIDE, TRAINED)
    rows = {"": 0, "--depth data": 1, "--depth data --structure": 0, "--depth data --expect finetune": 0}
    for options, code in rows.items():
        result = command("diff", "-q", str(tmp_path / "a"), str(tmp_path / "b"), *options.split())
        assert (result.code, result.out.count("\n")) == (code, 1), options
    assert command("diff", str(tmp_path / "a"), str(tmp_path / "a"), "--depth", "data").code == 0


def test_values_that_are_not_finite_are_counted(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", WIDE, W)
    found = hfcount.diff(a, saved(tmp_path / "b", WIDE, with_one(W, UP, float("inf"))), depth="data")
    assert found.values
    (row,) = found.values.rows
    assert (row.beyond, row.differing, row.other, row.largest) == (1, 1, 1, 0.0)
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert "1 NaN or infinite" in text.replace("\n  ", " ")


@pytest.mark.parametrize(("differing", "figures", "said"), [
    (0, {}, "mlp: 9 tensors, identical"),
    (2, {}, "mlp: 2 of 9 tensors differ"),
    (1, {"share": 0.5, "rms": 1.0, "largest": 2.0, "relative": 0.25},
     "mlp: 1 of 9 tensors differs, in 50.00% of its elements, by 1 (root mean square, 25.00% of A's), at most 2"),
    (2, {"share": 1e-9, "rms": 1e-9, "largest": 2.0, "relative": 1e-6, "beyond": 3},
     "mlp: 2 of 9 tensors differ, in less than 0.01% of their elements, 3 NaN or infinite, by 1e-09 (root mean square,"
     " less than 0.01% of A's), at most 2"),
    (1, {"share": 0.5, "rms": 1e37, "largest": 3e38, "relative": 2e38},
     "mlp: 1 of 9 tensors differs, in 50.00% of its elements, by 1e+37 (root mean square, 2e+40% of A's), at most"
     " 3e+38"),
    (2, {"share": 0.5, "rms": 0.0, "largest": 0.0, "relative": 0.0},
     "mlp: 2 of 9 tensors differ, in 50.00% of their elements, only in the sign of zeros"),
])  # fmt: skip
def test_rows_of_values_in_words(differing: int, figures: dict[str, Any], said: str) -> None:
    assert value_line(ValueRow(name="mlp", component="mlp", tensors=9, differing=differing, **figures)) == said


def test_a_page_says_the_same_of_what_was_compared_alone(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[html]'")
    a, b = (saved(tmp_path / name, WIDE, arrays) for name, arrays in (("a", W), ("b", with_one(W, UP, 3.0))))
    longer = saved(tmp_path / "c", WIDE | {"vocab_size": 98}, weights(WIDE | {"vocab_size": 98}))
    for found, same in (
        (hfcount.diff(a, b, depth="data"), "the same"),
        (hfcount.diff(a, longer, depth="headers"), "the same shapes and dtypes"),
    ):
        assert f'<span class="key same"></span> {same} </p>' in found.to_html()
        assert f"layers.0 norm, 2 tensors: {same}</title>" in found.to_html()


# Whether A, B, their config or their weights are there, and what is said
SPOILT: dict[str, tuple[str, str, int, set[str], str]] = {
    "no config of B": ("", "config", 3, {"same-values", "unread"}, "has a config that cannot be read"),
    "no config of A": ("config", "", 3, {"same-values", "unread"}, "because A's config cannot be read"),
    "no weights of B": (
        "",
        "weights",
        3,
        {"same-structure", "unread"},
        "has no weights: only its config was compared",
    ),
    "no weights of A": ("weights", "", 3, {"same-structure", "unread"}, "because A has no weights"),
    "no weights of either": ("weights", "weights", 0, {"same-structure"}, "(only configs were compared)"),
    "the end of B is lost": ("", "end", 3, {"same-values"}, "29 tensors that could be compared, identical"),
}


def test_what_is_not_there_is_not_said_to_be_the_same(tmp_path: Path) -> None:
    wrong = {}
    for number, (case, (*spoilt, code, kinds, words)) in enumerate(SPOILT.items()):
        for side, what in zip("ab", spoilt, strict=True):
            folder = saved(tmp_path / str(number) / str(side), WIDE, W)
            whole = (folder / SINGLE).read_bytes()
            if what == "config":
                (folder / "config.json").write_bytes(b"{")
            elif what == "weights":
                (folder / SINGLE).unlink()
            elif what == "end":
                (folder / SINGLE).write_bytes(whole[:-100])
        folders = [tmp_path / str(number) / side for side in "ab"]
        found = hfcount.diff(*folders, depth="data", expect="same")
        plain = hfcount.diff(*folders, depth="data")
        if (told(found), plain.exit_code, found.exit_code) != (kinds, code, 3) or words not in found.summary:
            wrong[case] = f"{plain.exit_code} {found.exit_code} {found.summary}"
    assert not wrong


def test_a_config_alone_is_compared_as_one(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", WIDE, W)
    assert hfcount.diff(a, a / "config.json").exit_code == 0


ADAPTED = [*Q, *(name.replace("q_proj", "v_proj") for name in Q)]
BY = {"large": 0.02, "small": 2e-4}
WAYS = [(base, work, out) for base in ("BF16", "F32") for work in ("BF16", "F16", "F32") for out in WIDTHS]


@pytest.mark.long
def test_merges_are_told_whatever_dtypes_they_went_through(tmp_path: Path) -> None:
    """As `merge_and_unload` of a base that was loaded in one dtype, and saved in another."""
    adapters = {"q": ["q_proj"], "qv": ["q_proj", "v_proj"], "up": ["up_proj"]}
    for name, targets in adapters.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "adapter_config.json").write_bytes(raw(ADAPTER | {"target_modules": targets}))
    wrong = {}
    bases = {base: saved(tmp_path / base, WIDE, W, base) for base in ("BF16", "F32")}
    for number, (base, work, out) in enumerate(WAYS):
        loaded = through(W, base, work)
        by = BY["large" if number % 2 or "BF16" in (work, out) else "small"]
        merged = {name: changed({name: one}, by)[name] if name in ADAPTED else one for name, one in loaded.items()}
        b = saved(tmp_path / str(number), WIDE, through(merged, work), out)
        for name in adapters:
            found = hfcount.diff(bases[base], b, depth="data", expect="merge", adapter=tmp_path / name)
            assert found.expectation
            if found.expectation.met is not (name == "qv") or ("merge" in told(found)) is not (name == "qv"):
                wrong[base, work, out, name] = found.expectation.reason
    assert not wrong


GGUF: Json = gguf_files.CONFIG | {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "head_dim": 16}
MIXED: Json = config("qwen3_moe", hidden_size=64, moe_intermediate_size=32, head_dim=16, vocab_size=96)


def of_gguf(file: Path, values: Json, arrays: Arrays, kind: str, turned: bool = True) -> Path:
    """A model as llama.cpp's converter writes it: names, rows of q and k, stacks of experts."""
    gguf = pytest.importorskip("gguf", reason="gguf is not installed: pip install '.[oracle]'")
    name = {"llama": "llama", "qwen3_moe": "qwen3moe"}[values["model_type"]]
    arch = next(key for key, text in gguf.MODEL_ARCH_NAMES.items() if text == name)
    names = gguf.get_tensor_name_map(arch, values["num_hidden_layers"])
    heads, kv = values["num_attention_heads"], values["num_key_value_heads"]
    writer = gguf.GGUFWriter(file, name)
    for key, number in (("block_count", values["num_hidden_layers"]), ("embedding_length", values["hidden_size"])):
        writer.add_uint32(f"{name}.{key}", number)
    writer.add_uint32(f"{name}.attention.head_count", heads)
    writer.add_uint32(f"{name}.attention.head_count_kv", kv)
    stacks: dict[str, list[NDArray[np.float32]]] = {}
    for key, array in arrays.items():
        if ".experts." in key:
            layer, _, rest = key.partition(".experts.")
            stacks.setdefault(f"{layer}.experts.{rest.partition('.')[2]}", []).append(array)
    plain = {key: array for key, array in arrays.items() if ".experts." not in key}
    for key, array in (plain | {key: np.stack(several) for key, several in stacks.items()}).items():
        count = heads if ".q_proj." in key else kv if ".k_proj." in key else 0
        if name == "llama" and count and turned:
            array = array.reshape(count, 2, len(array) // count // 2, -1).swapaxes(1, 2).reshape(array.shape)
        type_ = gguf.GGMLQuantizationType[kind if array.ndim > 1 else "F32"]
        data = np.ascontiguousarray(array) if type_.name == "F32" else gguf.quants.quantize(array, type_)
        writer.add_tensor(names.get_name(key, (".weight",)), data, raw_dtype=type_)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.mark.long
def test_values_of_gguf_are_those_of_its_model(tmp_path: Path) -> None:
    """Of each type, of a model with other values, and with rows of heads that were left as they are."""
    wrong: dict[tuple[object, ...], str] = {}
    for values in (GGUF, MIXED):
        arrays = weights(values)
        kind = values["model_type"]
        a = saved(tmp_path / kind, values, arrays)
        own = through(arrays, "BF16")
        trained, other = through(changed(arrays), "BF16"), through(weights(values, 2), "BF16")
        rows: list[tuple[str, Arrays, bool, set[str], str]] = [
            ("F32", own, True, {"cast", "same-values"}, "identical"),
            ("BF16", own, True, {"cast", "same-values"}, "identical"),
            ("F16", own, True, {"cast", "same-values"}, "is A as GGUF"),
            ("Q8_0", own, True, {"quantised", "same-values"}, "rounded (root mean square 0."),
            ("Q4_0", own, True, {"quantised", "same-values"}, "rounded"),
            ("F16", trained, True, {"cast", "finetune"}, "has A's structure as GGUF"),
            ("Q8_0", trained, True, {"quantised", "finetune"}, "different values in"),
            ("Q8_0", other, True, {"quantised", "another-model"}, "unrelated values: "),
            ("F32", own, False, {"cast"} | ({"finetune"} if kind == "llama" else {"same-values"}), ""),
        ]
        for number, (type_, held, turned, kinds, words) in enumerate(rows):
            b = of_gguf(tmp_path / f"{kind}-{number}.gguf", values, held, type_, turned)
            for pair in ((a, b), (b, a)):
                found = hfcount.diff(*pair, depth="data")
                expected = {"dequantised" if one == "quantised" and pair[0] == b else one for one in kinds}
                if told(found) != expected | {"container"} or (pair[0] == a and words not in found.summary):
                    wrong[kind, number, type_, pair[0] == a] = found.summary
                if found.values is None or found.values.tensors != len(arrays) or found.values.uncompared:
                    wrong[kind, number, "tensors", pair[0] == a] = repr(found.values)
    assert not wrong


def test_values_of_two_gguf_files(tmp_path: Path) -> None:
    arrays = weights(GGUF)
    files = {kind: of_gguf(tmp_path / f"{kind}.gguf", GGUF, arrays, kind) for kind in ("F32", "Q8_0", "Q4_0")}
    files["trained"] = of_gguf(tmp_path / "trained.gguf", GGUF, changed(arrays), "Q8_0")
    wrong = {}
    rows: list[tuple[str, str, set[str], int]] = [
        ("Q8_0", "Q8_0", {"same-values"}, 0),
        ("Q8_0", "trained", {"finetune"}, 1),
        ("F32", "Q4_0", {"quantised", "same-values"}, 1),
        ("Q8_0", "Q4_0", {"requantised", "same-values"}, 1),
        ("F32", "trained", {"quantised", "finetune"}, 1),
    ]
    for a, b, kinds, code in rows:
        found = hfcount.diff(files[a], files[b], depth="data")
        if (told(found), found.exit_code) != (kinds, code):
            wrong[a, b] = found.summary
    assert not wrong


def test_nothing_is_said_to_be_a_where_values_were_not_compared(tmp_path: Path) -> None:
    """Not even of a model with other values, of which only the dtypes are known."""
    arrays, other = weights(GGUF), weights(GGUF, 2)
    a = saved(tmp_path / "a", GGUF, arrays)
    files = {kind: of_gguf(tmp_path / f"{kind}.gguf", GGUF, other, kind) for kind in ("F16", "Q8_0")}
    files["F32"] = of_gguf(tmp_path / "F32.gguf", GGUF, arrays, "F32")
    rows: list[tuple[Path, Path, Expected, str]] = [
        (a, saved(tmp_path / "b", GGUF, other, "F16"), "cast", "B is cast to F16"),
        (a, files["F16"], "cast", "B has A's structure as GGUF"),
        (files["F32"], files["Q8_0"], "quantised", "B is quantised: Q8_0"),
    ]
    wrong = {}
    for one, b, expected, words in rows:
        found = hfcount.diff(one, b, depth="headers", expect=expected)
        read = hfcount.diff(one, b, depth="data", expect=expected)
        if not found.summary.startswith(words) or not read.summary.startswith(words):
            wrong[one, b] = f"{found.summary}, {read.summary}"
        if not (found.expectation and read.expectation):
            wrong[one, b] = "no expectation"
        elif (found.expectation.met, read.expectation.met) != (True, False) or not found.expectation.reason.endswith(
            "; values were not compared (--depth data compares them)"
        ):
            wrong[one, b] = found.expectation.reason
    assert not wrong


def test_values_that_were_not_looked_at_are_counted(tmp_path: Path) -> None:
    """Those of a type of which nobody has recorded what the converter does; the file is of llama's architecture."""
    arrays = weights(GGUF)
    unknown = GGUF | {"model_type": "aquila", "architectures": ["AquilaForCausalLM"]}
    a = saved(tmp_path / "a", unknown, arrays)
    b = of_gguf(tmp_path / "b.gguf", GGUF, through(arrays, "BF16"), "F32")
    found = hfcount.diff(a, b, depth="data")
    assert (told(found), found.values) == ({"cast", "container"}, None)
    assert "Values: 21 tensors of one shape could not be compared by value." in found.notes


def test_values_of_types_that_are_not_read_are_counted(tmp_path: Path) -> None:
    a, b = (tmp_path / name for name in ("a.gguf", "b.gguf"))
    pairs, shapes = gguf_files.model(**{"qwen3.embedding_length": 256})
    wide = {name: (*shape[:-1], 256) if len(shape) > 1 else shape for name, shape in shapes.items()}
    for path, kind in ((a, "IQ2_XS"), (b, "F16")):
        file = gguf_files.source(pairs, gguf_files.laid_out(wide, {"token_embd.weight": kind}))
        path.write_bytes(file(0, file.size))
    found = hfcount.diff(a, b, depth="data")
    assert "Values: 1 tensor of one shape could not be compared by value, stored as IQ2_XS among them." in found.notes
    assert hfcount.diff(a, a, depth="data").values


def _modules(folder: Path, weight: float) -> Path:
    listed = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense")]
    kind = "sentence_transformers.models."
    modules = [{"idx": n, "name": str(n), "path": path, "type": kind + name} for n, (path, name) in enumerate(listed)]
    written(folder, BERT)
    (folder / "modules.json").write_text(json.dumps(modules))
    for path, own in (("1_Pooling", {"word_embedding_dimension": 12}), ("2_Dense", DENSE)):
        (folder / path).mkdir()
        (folder / path / "config.json").write_bytes(raw(own))
    dense = filled({"linear.weight": ((8, 12), weight), "linear.bias": ((8,), 0.0)}, "F32")
    (folder / "2_Dense" / SINGLE).write_bytes(dense)
    return folder


def test_modules_are_sampled(tmp_path: Path) -> None:
    a, b = (_modules(tmp_path / name, weight) for name, weight in (("a", 0.0), ("b", 0.5)))
    found = hfcount.diff(a, b, sample=True)
    assert (told(found), found.depth) == ({"finetune"}, "samples")
    assert found.values
    assert [row.name for row in found.values.rows] == ["2_Dense/linear.weight"]
    assert found.values.uncompared == 0
    (b / "config.json").write_bytes(raw(BERT | {"hidden_act": "relu"}))
    shutil.copy(a / "2_Dense" / SINGLE, b / "2_Dense" / SINGLE)
    assert "same-values" in told(hfcount.diff(a, b, sample=True))


# What is done to B's parts, and what the whole then is
PARTS: dict[str, tuple[Callable[[Path], object], int, str, Mapping[Expected, bool | None]]] = {
    "a variant": (lambda b: _variant(b / "unet"), 0, "", {"finetune": False}),
    "a lost part": (
        lambda b: shutil.rmtree(b / "vae"),
        3,
        "in vae could not be compared: B",
        {"finetune": None, "same": None},
    ),
    "no weights": (lambda b: _gone(b / "unet"), 3, "in unet has no weights", {"finetune": None, "cast": False}),
}


def _gone(folder: Path) -> None:
    for file in folder.glob("*.safetensors"):
        file.unlink()


def _variant(folder: Path) -> None:
    for file in folder.glob("*.safetensors"):
        file.rename(file.with_suffix(".fp16.safetensors"))


@pytest.mark.long
def test_parts_of_pipelines_that_are_not_plainly_there(tmp_path: Path) -> None:
    wrong = {}
    for number, (name, (spoil, code, words, expectations)) in enumerate(PARTS.items()):
        a, b = (pipeline_repos.pipeline(tmp_path / f"{number}{side}") for side in "ab")
        spoil(b)
        found = hfcount.diff(a, b)
        if found.exit_code != code or words not in found.summary:
            wrong[name] = f"{found.exit_code} {found.summary}"
        for expected, met in expectations.items():
            told_ = hfcount.diff(a, b, expect=expected).expectation
            if told_ is None or told_.met is not met:
                wrong[f"{name}, {expected}"] = told_.reason if told_ else "nothing"
    assert not wrong


def test_a_file_that_changes_while_it_is_compared_leaves_the_answer_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = saved(tmp_path / "a", WIDE, weights(WIDE)), saved(tmp_path / "b", WIDE, weights(WIDE))
    read = compare.run_apart

    def interrupted(*given: Any) -> Any:
        with (b / SINGLE).open("ab") as file:
            file.truncate(9000)
        return read(*given)

    monkeypatch.setattr(compare, "run_apart", interrupted)
    found = hfcount.diff(a, b, depth="data")
    assert (found.exit_code, found.same_structure) == (3, None)
    assert f"{SINGLE} was changed while hfcount read it. Run again." in "\n".join(found.notes)
    assert hfcount.diff(a, a, depth="headers").exit_code == 0
