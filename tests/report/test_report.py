"""The report as programs read it: its keys, their types, and the exit code."""

import json
from pathlib import Path
from typing import Any

import pytest
from build import COMMIT, TINY, Json, config, index, save
from hypothesis import given, settings
from hypothesis import strategies as st

from hfcount import ConfigError, DocumentError, HfcountError, Report, UnknownArchitecture
from hfcount.checkpoints.inspect import AskedDepth, Options, failed, inspect
from hfcount.errors import FetchError
from hfcount.fetcher import Request
from hfcount.options import Depth
from hfcount.report.figures import ComponentCount, Failure
from hfcount.report.model import Verdict, worst
from hfcount.verifier.policy import Policy

KEYS = (
    "schema model revision source family architecture dtype depth depth_reason verdict parameters components auxiliary"
    " evidence not_looked_at checks findings allowed loaders storage memory compute"
).split()

INNER = {
    "parameters": "total active active_without_embedding stored",
    "components": "name total active",
    "auxiliary": "mtp",
    "evidence": "total_size total_parameters tensors shards dtypes unlisted files",
    "checks": "name expected observed agrees text",
    "findings": (
        "code name severity message tensors count parameters bytes expected observed key file fix parts also variant"
        " location url part"
    ),
    "allowed": "code name count",
    "loaders": "loader version home outcome findings says evidence source",
    "tensors": "name count shape component kind elements",
    "memory": (
        "weights_bytes weights weights_why kv_dtype kv_bytes_per_token state_bytes context batch kv_bytes parts why"
        " total_bytes available_bytes fits largest_context tensor_parallel ranks ranks_why"
    ),
    "compute": "per_token per_position context at_context",
    "formula": "parts legend active layers active_layers keys",
    "layers": "name numbers count components",
    "error": "kind message",
}


def _report(folder: Path, values: Json, listed: Json | None = None, depth: AskedDepth = "auto", **more: Any) -> Report:
    save(folder / "org" / "name", values, listed)
    return inspect(Request("org/name", fixtures=folder), Options(depth, **more))


def _dumped(report: Report) -> dict[str, Any]:
    line = report.to_json()
    assert line.isascii()
    assert line.isprintable()  # and so one line
    result = json.loads(line)
    assert isinstance(result, dict)
    return result


def test_every_key_and_no_other(tmp_path: Path) -> None:
    values = config("llama", tie_word_embeddings=True)
    listed = index(values)
    listed["weight_map"]["lm_head.weight"] = "model.safetensors"
    dumped = _dumped(_report(tmp_path, values, listed))
    assert list(dumped) == KEYS
    for key in INNER.keys() & dumped.keys():
        parts = dumped[key] if isinstance(dumped[key], list) else [dumped[key]]
        assert [list(part) for part in parts] == [INNER[key].split()] * len(parts), key


def test_errors_that_were_let_through_are_listed(tmp_path: Path) -> None:
    lacking = config("llama", num_hidden_layers=4)
    waved = _report(tmp_path, lacking, index(TINY["llama"]), policy=Policy(frozenset({"HF201", "HF203"})))
    assert (waved.verdict, waved.exit_code, _dumped(waved)["allowed"]) == (
        "allowed",
        0,
        [{"code": "HF201", "name": "missing-tensor", "count": 1}],
    )


def test_what_is_asked_for_besides(tmp_path: Path) -> None:
    dumped = _dumped(_report(tmp_path, TINY["llama"], index(TINY["llama"]), extras=("tensors", "formula", "layers")))
    assert list(dumped) == [*KEYS, "tensors", "formula", "layers"]
    assert [list(row) for row in dumped["tensors"]] == [INNER["tensors"].split()] * len(dumped["tensors"])
    assert list(dumped["formula"]) == INNER["formula"].split()
    assert dumped["formula"]["parts"][-1] == {
        "component": "total",
        "symbols": "N·(2·d + 3·d·d_ff + 2·h·h_d·d + 2·h_kv·h_d·d) + d·(2·|V| + 1)",
        "numbers": "3·(2·12 + 3·12·20 + 2·4·3·12 + 2·2·3·12) + 12·(2·50 + 1)",
        "value": 4740,
    }
    assert dumped["formula"]["legend"] == {"N": 3, "d": 12, "d_ff": 20, "h": 4, "h_d": 3, "h_kv": 2, "|V|": 50}
    assert dumped["formula"]["keys"] == {
        "N": "num_hidden_layers",
        "d": "hidden_size",
        "d_ff": "intermediate_size",
        "h": "num_attention_heads",
        "h_d": "hidden_size / num_attention_heads",
        "h_kv": "num_key_value_heads",
        "|V|": "vocab_size",
    }
    ((one,), (layers,)) = dumped["formula"]["layers"], dumped["layers"]
    assert (one["component"], one["value"]) == ("GQA + MLP, layers 0-2", 1176)
    assert (layers["name"], layers["numbers"], layers["count"]) == ("GQA + MLP", "0-2", 3)
    counts = {part["name"]: part["total"] for part in layers["components"]}
    assert counts == {"norm": 72, "attention": 1296, "mlp": 2160}


def test_obsolete_buffers_are_listed_where_they_are_stored(tmp_path: Path) -> None:
    """Rotary frequencies, which early versions saved."""
    stored = index(TINY["llama"])
    stored["weight_map"] |= {
        f"model.layers.{layer}.self_attn.rotary_emb.inv_freq": "model.safetensors" for layer in range(3)
    }
    for listed, there in ((index(TINY["llama"]), 0), (stored, 1)):
        report = _report(tmp_path, TINY["llama"], listed, extras=("tensors",))
        assert sum("inv_freq" in row.name for row in report.tensors or ()) == there


def test_values(tmp_path: Path) -> None:
    save(tmp_path / "org" / "name", TINY["llama"])
    (tmp_path / "org" / "name" / "headers.json").write_text(json.dumps({"revision": COMMIT}))
    dumped = _dumped(_report(tmp_path, TINY["llama"], {**index(TINY["llama"])}))
    assert [one["outcome"] for one in dumped["loaders"] if one["home"]] == ["whole"]
    assert dumped | {"loaders": []} == {
        "schema": 1,
        "model": "org/name",
        "revision": COMMIT,
        "source": "fixtures",
        "family": "llama",
        "architecture": "LlamaForCausalLM",
        "dtype": "bfloat16",
        "depth": "index",
        "depth_reason": None,
        "verdict": "verified",
        "parameters": {"total": 4740, "active": 4740, "active_without_embedding": 4140, "stored": 4740},
        "components": [
            {"name": "embedding", "total": 600, "active": 600},
            {"name": "norm", "total": 84, "active": 84},
            {"name": "attention", "total": 1296, "active": 1296},
            {"name": "mlp", "total": 2160, "active": 2160},
            {"name": "lm_head", "total": 600, "active": 600},
        ],
        "auxiliary": {"mtp": 0},
        "evidence": {
            "total_size": 9480,
            "total_parameters": None,
            "tensors": 30,
            "shards": 1,
            "dtypes": {"BF16": 4740},
            "unlisted": [],
            "files": {"named": 1, "found": None, "sized": 0, "opened": 0, "apart": {}},
        },
        "not_looked_at": [],
        "checks": [
            {"name": "tensors", "expected": 30, "observed": 30, "agrees": True, "text": ""},
            {"name": "total_size", "expected": 9480, "observed": 9480, "agrees": True, "text": "4,740 × 2 (BF16)"},
        ],
        "findings": [],
        "allowed": [],
        "loaders": [],
        "storage": None,
        "memory": {
            "weights_bytes": 9480,
            "weights": {"BF16": 9480},
            "weights_why": None,
            "kv_dtype": "bfloat16",
            "kv_bytes_per_token": 72,
            "state_bytes": 0,
            "context": None,
            "batch": 1,
            "kv_bytes": None,
            "parts": [
                {
                    "kind": "GQA",
                    "layers": 3,
                    "bytes_per_token": 24,
                    "state_bytes": 0,
                    "window": None,
                    "picked": None,
                    "merged": None,
                }
            ],
            "why": None,
            "total_bytes": None,
            "available_bytes": None,
            "fits": None,
            "largest_context": None,
            "tensor_parallel": None,
            "ranks": [],
            "ranks_why": None,
        },
        "compute": {"per_token": 4056, "per_position": 72, "context": None, "at_context": None},
    }


@pytest.mark.parametrize(
    ("changes", "architecture", "dtype"),
    [
        ({"architectures": None}, None, "bfloat16"),
        ({"dtype": None}, "LlamaForCausalLM", None),
        ({"dtype": "\x1b[31m\ud800"}, "LlamaForCausalLM", r"\x1b[31m\ud800"),
        ({"architectures": ["\x1b[31mForCausalLM"]}, None, None),  # a class that nobody has is not counted
    ],
    ids=["no-architecture", "no-dtype", "hostile-dtype", "hostile-architecture"],
)
def test_what_the_config_says_of_itself(
    tmp_path: Path, changes: Json, architecture: str | None, dtype: str | None
) -> None:
    report = _report(tmp_path, config("llama", **changes), depth="config")
    assert (report.architecture, report.dtype) == (architecture, dtype)


@pytest.mark.parametrize(
    "error",
    [
        FetchError("GatedRepo", "org/name is gated."),
        UnknownArchitecture("no family"),
        DocumentError("cut off"),
        ConfigError("no vocab_size", fix="Add it."),
        HfcountError("other"),
    ],
    ids=lambda error: error.kind,
)
def test_a_run_that_could_not_look_prints_the_same_object(error: HfcountError) -> None:
    report = failed("org/\x1b[31m\ud800", error)
    dumped = _dumped(report)
    assert list(dumped) == [*KEYS, "error"]
    assert (dumped["model"], dumped["verdict"], report.exit_code) == (r"org/\x1b[31m\ud800", "unverified", 3)
    assert dumped["error"] == {"kind": error.kind, "message": str(error)}


@pytest.mark.parametrize(
    ("verdict", "depth", "error", "code"),
    [
        ("verified", "index", None, 0),
        ("verified", "headers", None, 0),
        ("explained", "index", None, 0),
        ("allowed", "index", None, 0),
        ("mismatch", "index", None, 1),
        ("mismatch", "config", None, 1),
        ("mismatch", "index", Failure(kind="NoIndex", message=""), 1),
        ("unverified", "config", None, 0),
        ("unverified", "config", Failure(kind="NoIndex", message=""), 3),
        ("unverified", "index", None, 3),
        ("unverified", None, Failure(kind="GatedRepo", message=""), 3),
    ],
)
def test_exit_codes(verdict: Verdict, depth: Depth | None, error: Failure | None, code: int) -> None:
    assert Report(model="m", verdict=verdict, depth=depth, error=error).exit_code == code


@pytest.mark.parametrize(
    ("codes", "code"),
    [([], 0), ([0], 0), ([0, 0], 0), ([0, 3], 3), ([3, 0, 1], 1), ([1, 3], 1), ([3, 3], 3), ([0, 1, 0], 1)],
)
def test_the_worst_of_several(codes: list[int], code: int) -> None:
    assert worst(codes) == code


_KEYS = st.text("ab \n\x1b\u202e\u2028\ud800`|<&", min_size=1, max_size=8)


@settings(deadline=None, max_examples=40)
@given(names=st.lists(_KEYS, max_size=3), keys=st.lists(_KEYS, max_size=3), dtype=_KEYS, architecture=_KEYS)
def test_nothing_foreign_is_reported_raw(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], keys: list[str], dtype: str, architecture: str
) -> None:
    values = config("llama", dtype=dtype, architectures=[architecture + "ForCausalLM"]) | dict.fromkeys(keys, 1)
    listed = index(TINY["llama"])
    listed["weight_map"] |= dict.fromkeys(names, "model.safetensors")
    for text in _texts(_report(tmp_path_factory.mktemp("m"), values, listed).model_dump()):
        assert text.isprintable()


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.items() for part in one for text in _texts(part)]
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def test_parts_compare_and_show_themselves_by_their_values() -> None:
    one, same, other = (ComponentCount(name="mlp", total=total, active=None) for total in (3, 3, 4))
    assert (one == same, one == other, one == Failure(kind="a", message="b")) == (True, False, False)
    assert len({one, same, other}) == 2
    assert repr(one) == "ComponentCount(name='mlp', total=3, active=None)"
