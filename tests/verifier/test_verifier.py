"""One defect at a time, put into a good small checkpoint: each is named by its rule and nothing else is said."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from build import FAMILIES, Json, config, index, named, save, shard
from tables import over

import hfcount
from hfcount import Report
from hfcount.checkpoints.inspect import AskedDepth, Options, inspect
from hfcount.fetcher import Request
from hfcount.mapper.class_defaults import version
from hfcount.verifier.policy import Policy
from hfcount.verifier.rules import RULES, lookup

LLAMA, TIED = config("llama"), config("llama", tie_word_embeddings=True)
NO_DTYPE = config("llama", "dtype")
SHORT = config("mistral", "num_key_value_heads", num_attention_heads=8, head_dim=6)  # whose default is 8
BARE = config("llama", architectures=["LlamaModel"])
ROTARY = [f"model.layers.{layer}.self_attn.rotary_emb.inv_freq" for layer in range(3)]
LAST_LAYER = [name for name in index(LLAMA)["weight_map"] if name.startswith("model.layers.2.")]


def listing(
    values: Json = LLAMA,
    add: Iterable[str] = (),
    drop: Iterable[str] = (),
    extra_bytes: int = 0,
    width: int = 2,
    **metadata: Any,
) -> Json:
    """A config's index, with names added and dropped, and with other claims (`...` leaves one out)."""
    listed = index(values, width)
    names = {*listed["weight_map"], *add} - set(drop)
    claims = {"total_size": listed["metadata"]["total_size"] + extra_bytes} | metadata
    return {
        "metadata": {name: claim for name, claim in claims.items() if claim is not ...},
        "weight_map": dict.fromkeys(sorted(names), "model.safetensors"),
    }


def renamed(prefix: str) -> Json:
    """The index with the base model under another prefix."""
    listed = listing()
    names = [
        prefix + name.removeprefix("model.") if name != "lm_head.weight" else name for name in listed["weight_map"]
    ]
    return {**listed, "weight_map": dict.fromkeys(names, "model.safetensors")}


def _verify(
    folder: Path, values: Json | bytes, listed: Json | bytes | None, depth: AskedDepth = "auto", **policy: Any
) -> Report:
    save(folder / "org" / "model", values, listed)
    return inspect(Request("org/model", fixtures=folder), Options(depth, Policy(**policy)))


Case = tuple[Json | bytes, Json | bytes, str, str]

UNEVEN = config("llama", num_key_value_heads=3)  # a model that is built and cannot run

CASES: dict[str, Case] = {
    "nothing": (LLAMA, listing(), "", "verified"),
    "total_parameters is right": (LLAMA, listing(total_parameters=4740), "", "verified"),
    "total_size is a whole float": (LLAMA, listing(total_size=9480.0), "", "verified"),
    "tied, no copy": (TIED, listing(TIED), "", "verified"),
    "bare model": (BARE, listing(BARE), "", "verified"),
    "no dtype, 2 bytes": (NO_DTYPE, listing(), "", "verified"),
    "no dtype, 4 bytes": (NO_DTYPE, listing(width=4), "", "verified"),
    "no dtype, 1 byte": (NO_DTYPE, listing(width=1), "", "verified"),
    "no dtype, no exact width": (NO_DTYPE, listing(extra_bytes=2), "HF401", "mismatch"),
    "no quantisation after all": (config("llama", quantization_config=None), listing(), "", "verified"),
    "unread key": (config("llama", num_nextn_predict_layers=1), listing(), "HF102", "verified"),
    "missing, counted in total_size": (LLAMA, listing(drop=["model.norm.weight"]), "HF201", "mismatch"),
    "missing, not counted": (LLAMA, listing(drop=["model.norm.weight"], extra_bytes=-24), "HF201", "mismatch"),
    "a layer short": (LLAMA, listing(drop=LAST_LAYER, extra_bytes=-2 * 1176), "HF201", "mismatch"),
    "a config of one more layer": (config("llama", num_hidden_layers=4), listing(), "HF201", "mismatch"),
    "a config of one layer less": (config("llama", num_hidden_layers=2), listing(), "HF202", "mismatch"),
    "unexpected, counted in total_size": (LLAMA, listing(add=["extra"], extra_bytes=10), "HF202", "mismatch"),
    "unexpected, of no bytes": (LLAMA, listing(add=["extra"]), "HF202", "mismatch"),
    "misspelt": (LLAMA, listing(add=["mode.norm.weight"], drop=["model.norm.weight"]), "HF201 HF202", "mismatch"),
    "a head that is not tied after all": (LLAMA, listing(TIED), "HF201", "mismatch"),
    "tied, and stored": (TIED, listing(TIED, add=["lm_head.weight"], extra_bytes=1200), "HF203", "explained"),
    "tied, stored, not counted": (TIED, listing(TIED, add=["lm_head.weight"]), "HF203", "explained"),
    "rotary buffers of 4 bytes": (LLAMA, listing(add=ROTARY, extra_bytes=12), "HF204", "explained"),
    "rotary buffers of 2 bytes": (LLAMA, listing(add=ROTARY, extra_bytes=6), "HF204", "explained"),
    "rotary buffers of 3 bytes": (LLAMA, listing(add=ROTARY, extra_bytes=9), "HF204 HF401", "mismatch"),
    "no model.": (LLAMA, renamed(""), "HF209", "explained"),
    "language_model.model.": (LLAMA, renamed("language_model.model."), "HF211", "mismatch"),
    "an unknown prefix": (LLAMA, renamed("backbone."), "HF211", "mismatch"),
    "another head in its place": (
        LLAMA,
        listing(add=["score.weight"], drop=["lm_head.weight"], extra_bytes=2 * (2 * 12 - 600)),
        "HF201 HF210",
        "mismatch",
    ),
    "another head beside it": (LLAMA, listing(add=["score.weight"], extra_bytes=2 * 2 * 12), "HF210", "explained"),
    "stored as 4 bytes": (LLAMA, listing(width=4), "HF302", "unverified"),
    "stored as 1 byte": (LLAMA, listing(width=1), "HF302", "unverified"),
    "declared float32, stored as 2": (config("llama", dtype="float32"), listing(), "HF302", "unverified"),
    "2 bytes more": (LLAMA, listing(extra_bytes=2), "HF401", "mismatch"),
    "2 bytes fewer": (LLAMA, listing(extra_bytes=-2), "HF401", "mismatch"),
    "sizes of files": (LLAMA, listing(extra_bytes=3000), "HF401", "mismatch"),
    "a config of another width": (config("llama", intermediate_size=21), listing(), "HF401", "mismatch"),
    "no total_size": (LLAMA, listing(total_size=...), "HF402", "unverified"),
    "total_size is null": (LLAMA, listing(total_size=None), "HF402", "unverified"),
    "total_size is 0": (LLAMA, listing(total_size=0), "HF402", "unverified"),
    "no metadata": (LLAMA, {"weight_map": listing()["weight_map"]}, "HF402", "mismatch"),
    "total_parameters is off": (LLAMA, listing(total_parameters=4741), "HF403", "explained"),
    "gptq": (config("llama", quantization_config={"quant_method": "gptq"}), listing(), "HF501", "unverified"),
    "MLX that packs nothing": (  # no group of 64 fits these widths, and mlx-lm packs what has scales alone
        config("llama", rms_norm_eps=1e-6, quantization={"group_size": 64, "bits": 4}),
        listing(),
        "",
        "verified",
    ),
    "gptq, other names": (
        config("llama", quantization_config={"quant_method": "gptq"}),
        listing(add=["model.layers.0.mlp.up_proj.qweight"], drop=["model.layers.0.mlp.up_proj.weight"]),
        "HF501",
        "unverified",
    ),
    "config is a list": (b"[]", listing(), "HF001", "mismatch"),
    "config says hidden_size twice": (b'{"hidden_size": 1, "hidden_size": 2}', listing(), "HF001", "mismatch"),
    "config has a text for a size": (config("llama", hidden_size="12"), listing(), "HF001", "mismatch"),
    "index is cut off": (LLAMA, b'{"weight_map": {', "HF001", "mismatch"),
    "index has no weight_map": (LLAMA, {"metadata": {"total_size": 9480}}, "HF001", "mismatch"),
    "index names a file elsewhere": (LLAMA, {"weight_map": {"a": "../../x.safetensors"}}, "HF002", "mismatch"),
    "config lacks a key": (config("llama", vocab_size=None), listing(), "HF101", "mismatch"),
    "config leaves a key to the default": (SHORT, listing(SHORT), "HF106", "verified"),
    "config contradicts itself": (UNEVEN, listing(UNEVEN), "HF103", "unverified"),
    "config contradicts itself, and the index": (UNEVEN, listing(), "HF103 HF401", "mismatch"),
}


@over(("values", "listed", "codes", "verdict"), CASES.values(), ids=CASES)
def test_a_defect_is_named_and_nothing_else(
    tmp_path: Path, values: Json | bytes, listed: Json | bytes, codes: str, verdict: str
) -> None:
    report = _verify(tmp_path, values, listed)
    assert (sorted(finding.code for finding in report.findings), report.verdict) == (codes.split(), verdict)


@over("case", CASES)
def test_numbers_that_agree_are_not_reported_as_different(tmp_path: Path, case: str) -> None:
    report = _verify(tmp_path, *CASES[case][:2])
    agrees = {check.name: check.agrees for check in report.checks}
    found = {finding.code for finding in report.findings}
    assert not ("HF401" in found and agrees["total_size"])
    assert not ("HF403" in found and agrees["total_parameters"])
    assert all(agrees.values()) or found & {"HF201", "HF202", "HF211", "HF401", "HF403"}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("task", ["ForCausalLM", "Model", "ForTokenClassification", "ForQuestionAnswering"])
def test_every_family_and_head_verifies_what_it_describes(tmp_path: Path, family: str, task: str) -> None:
    values = config(family, architectures=named(family, task), id2label={"0": "a", "1": "b", "2": "c"})
    report = _verify(tmp_path, values, index(values))
    assert (report.verdict, report.findings) == ("verified", ())


Fields = dict[str, object]

DETAILS: dict[str, tuple[str, Fields, list[str]]] = {
    "unread key": ("HF102", {"tensors": (), "count": 0, "parameters": 0, "bytes": 0}, ["num_nextn_predict_layers"]),
    "missing, counted in total_size": (
        "HF201",
        {"tensors": ("model.norm.weight",), "count": 1, "parameters": 12, "bytes": 24},
        ["1 tensor", "30", "LlamaForCausalLM", "model.norm.weight"],
    ),
    "a layer short": (
        "HF201",
        {"tensors": tuple(sorted(LAST_LAYER)), "count": 9, "parameters": 1176, "bytes": 2352},
        ["9 tensors", "30", "model.layers.2."],
    ),
    "unexpected, counted in total_size": (
        "HF202",
        {"tensors": ("extra",), "count": 1, "parameters": None, "bytes": None},
        ["1 tensor", "LlamaForCausalLM", "extra"],
    ),
    "tied, and stored": (
        "HF203",
        {"tensors": ("lm_head.weight",), "count": 1, "parameters": 600, "bytes": 1200},
        ["lm_head.weight", "model.embed_tokens.weight", "600"],
    ),
    "rotary buffers of 4 bytes": (
        "HF204",
        {"tensors": ("model.layers.{0-2}.self_attn.rotary_emb.inv_freq",), "count": 3, "parameters": 3, "bytes": 12},
        ["3 tensors"],
    ),
    "no model.": ("HF209", {"count": 29, "parameters": 0, "bytes": 0}, ["29 names", "embed_tokens.weight"]),
    "stored as 4 bytes": ("HF302", {"tensors": (), "bytes": 18_960}, ["bfloat16", "2 bytes", "4 bytes", "18,960"]),
    "2 bytes more": ("HF401", {"tensors": (), "bytes": 2}, ["9,482", "9,480", "2 more"]),
    "2 bytes fewer": ("HF401", {"tensors": (), "bytes": 2}, ["9,478", "9,480", "2 fewer"]),
    "no total_size": ("HF402", {"tensors": (), "count": 0}, ["metadata.total_size is missing in the index"]),
    "total_size is 0": ("HF402", {"tensors": (), "count": 0}, ["metadata.total_size is 0 in the index"]),
    "total_parameters is off": ("HF403", {"parameters": 1}, ["4,741", "4,740", "1 more"]),
    "gptq": ("HF501", {"count": 30, "parameters": 4740, "bytes": None}, ["gptq"]),
    "config lacks a key": ("HF101", {"tensors": (), "count": 0}, ["config.json", "vocab_size", "llama"]),
    "config leaves a key to the default": (
        "HF106",
        {"tensors": (), "key": "num_key_value_heads"},
        ["mistral", f"transformers {version()}", "num_key_value_heads 8"],
    ),
    "index names a file elsewhere": ("HF002", {"tensors": ()}, ["../../x.safetensors", "model.safetensors.index.json"]),
}


@pytest.mark.parametrize("case", DETAILS)
def test_a_finding_says_what_where_and_both_numbers(tmp_path: Path, case: str) -> None:
    code, fields, parts = DETAILS[case]
    (finding,) = (one for one in _verify(tmp_path, *CASES[case][:2]).findings if one.code == code)
    dumped = {**asdict(finding), "tensors": tuple(sorted(finding.tensors))}
    assert {name: dumped[name] for name in fields} == fields
    assert [part for part in parts if part not in finding.message] == []


@pytest.mark.parametrize(
    ("claimed", "reason"),
    [
        (4140 + 600, "counts the tied head twice"),
        (12 * 7, "ZeRO-3"),
        (1, "4,139 fewer"),
    ],
)
def test_a_wrong_total_parameters_is_explained_where_it_can_be(tmp_path: Path, claimed: int, reason: str) -> None:
    report = _verify(tmp_path, TIED, listing(TIED, total_parameters=claimed))
    assert [(finding.code, reason in finding.message) for finding in report.findings] == [("HF403", True)]


@pytest.mark.parametrize(
    ("case", "stored", "dtypes"),
    [
        ("nothing", 4740, {"BF16": 4740}),
        ("tied, and stored", 4740, {"BF16": 4740}),
        ("tied, no copy", 4140, {"BF16": 4140}),
        ("rotary buffers of 4 bytes", 4743, {"BF16": 4740, "F32": 3}),
        ("rotary buffers of 2 bytes", 4743, {"BF16": 4743}),
        ("stored as 4 bytes", 4740, {"F32": 4740}),
        ("no dtype, 4 bytes", 4740, {"F32": 4740}),
        ("no dtype, 2 bytes", 4740, None),
        ("2 bytes more", None, None),
        ("no total_size", None, None),
        ("gptq", None, None),
    ],
)
def test_what_is_stored_is_said_where_the_bytes_tell_it(
    tmp_path: Path, case: str, stored: int | None, dtypes: dict[str, int] | None
) -> None:
    report = _verify(tmp_path, *CASES[case][:2])
    assert report.parameters is not None
    assert report.evidence is not None
    assert (report.parameters.stored, report.evidence.dtypes) == (stored, dtypes)


@pytest.mark.parametrize("case", ["no dtype, 2 bytes", "no dtype, 4 bytes", "no dtype, 1 byte"])
def test_a_width_that_was_taken_for_want_of_a_dtype_is_said(tmp_path: Path, case: str) -> None:
    (text,) = (check.text for check in _verify(tmp_path, *CASES[case][:2]).checks if check.name == "total_size")
    assert "names no dtype" in text


@pytest.mark.parametrize(
    ("case", "policy", "severities", "verdict"),
    [
        ("2 bytes more", {}, ["error"], "mismatch"),
        ("2 bytes more", {"allow": {"HF401"}}, ["note"], "allowed"),
        ("2 bytes more", {"allow": {"HF201"}}, ["error"], "mismatch"),
        ("misspelt", {"allow": {"HF201"}}, ["note", "error"], "mismatch"),
        ("misspelt", {"allow": {"HF201", "HF202"}}, ["note", "note"], "allowed"),
        ("gptq", {"allow": {"HF501"}}, ["note"], "unverified"),
        ("tied, and stored", {"strict": True}, ["error"], "mismatch"),
        ("tied, and stored", {"strict": True, "allow": {"HF203"}}, ["note"], "explained"),
        ("unread key", {"strict": True}, ["note"], "verified"),
        ("config leaves a key to the default", {"strict": True}, ["note"], "verified"),
        ("no total_size", {"strict": True}, ["error"], "mismatch"),
        ("gptq", {"strict": True}, ["error"], "mismatch"),
        ("nothing", {"strict": True}, [], "verified"),
        ("config lacks a key", {"allow": {"HF101"}}, ["note"], "unverified"),
    ],
)
def test_policy(tmp_path: Path, case: str, policy: dict[str, Any], severities: list[str], verdict: str) -> None:
    report = _verify(tmp_path, *CASES[case][:2], **policy)
    assert ([finding.severity for finding in report.findings], report.verdict) == (severities, verdict)


@pytest.mark.parametrize(
    ("case", "codes", "verdict", "exit_code"),
    [
        ("nothing", [], "unverified", 0),
        ("2 bytes more", [], "unverified", 0),
        ("index is cut off", [], "unverified", 0),
        ("gptq", ["HF501"], "unverified", 0),
        ("unread key", ["HF102"], "unverified", 0),
        ("config lacks a key", ["HF101"], "mismatch", 1),
        ("config is a list", ["HF001"], "mismatch", 1),
    ],
)
def test_at_depth_config_nothing_is_compared(
    tmp_path: Path, case: str, codes: list[str], verdict: str, exit_code: int
) -> None:
    report = _verify(tmp_path, *CASES[case][:2], depth="config")
    assert [finding.code for finding in report.findings] == codes
    assert (report.depth, report.verdict, report.exit_code, report.checks) == ("config", verdict, exit_code, ())


def test_without_an_index_the_count_stands_and_nothing_is_verified(tmp_path: Path) -> None:
    report = _verify(tmp_path, LLAMA, None)
    assert report.parameters is not None
    assert report.error is not None
    assert (report.verdict, report.exit_code, report.parameters.total, report.findings) == ("unverified", 3, 4740, ())
    assert "model.safetensors.index.json" in report.error.message


@pytest.mark.parametrize(
    "case", ["index is cut off", "index has no weight_map", "index names a file elsewhere", "gptq"]
)
def test_a_config_that_could_be_mapped_is_counted_whatever_the_verdict(tmp_path: Path, case: str) -> None:
    report = _verify(tmp_path, *CASES[case][:2])
    assert report.parameters is not None
    assert (report.parameters.total, len(report.components)) == (4740, 5)


@pytest.mark.parametrize("changes", [{"num_hidden_layers": 10**9}, {"num_hidden_layers": 2**62}])
def test_a_config_of_a_billion_layers_is_answered_like_any_other(tmp_path: Path, changes: Json) -> None:
    report = _verify(tmp_path, config("llama", **changes), listing())
    assert [finding.code for finding in report.findings] == ["HF201"]
    assert report.findings[0].count == 9 * (changes["num_hidden_layers"] - 3)


def test_headers_of_three_layers_against_a_config_of_a_million_cost_no_walk_through_all(tmp_path: Path) -> None:
    save(tmp_path, config("llama", num_hidden_layers=10**12), listing())
    shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(LLAMA).tensors()}
    (tmp_path / "model.safetensors").write_bytes(shard(shapes))
    report = hfcount.verify(str(tmp_path))
    assert (report.depth, [finding.code for finding in report.findings]) == ("headers", ["HF201"])


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("HF201", "HF201"),
        ("hf201", "HF201"),
        ("201", "HF201"),
        ("missing-tensor", "HF201"),
        ("Missing-Tensor", "HF201"),
    ],
)
def test_a_rule_goes_by_code_or_name(asked: str, code: str) -> None:
    rule = lookup(asked)
    assert rule is not None
    assert rule.code == code


@pytest.mark.parametrize("asked", ["", "HF", "HF2", "20", "HF999", "missing tensor", "\x1b"])
def test_no_rule_is_called_that(asked: str) -> None:
    assert lookup(asked) is None


def test_rules_are_in_order_and_each_says_what_why_and_what_to_do() -> None:
    assert list(RULES) == sorted(RULES)
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    assert [rule.code for rule in RULES.values() if not (rule.what and rule.why and rule.remedy)] == []


def test_the_public_function_reads_the_same(tmp_path: Path) -> None:
    save(tmp_path / "org" / "model", LLAMA, listing())
    assert hfcount.verify("org/model", fixtures=tmp_path) == inspect(Request("org/model", fixtures=tmp_path))
