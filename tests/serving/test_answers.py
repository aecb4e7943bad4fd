"""What was asked about serving is answered beside the verdict: it decides the exit code, and never the verdict."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from build import Json, record_tiny, save
from click.testing import CliRunner
from paths import ARCHITECTURES, FIXTURES

import hfcount
from hfcount.cli.main import main
from hfcount.mapper.context_length import longest
from hfcount.report.renderers import FORMATS
from hfcount.report.renderers.amounts import binary
from hfcount.report.renderers.brief import render
from hfcount.report.renderers.text import verdict
from hfcount.serving.devices import devices_in, like, ranks_on, why_not
from hfcount.serving.engines import engine_share


def asked(folder: Path, family: str = "llama", changes: Json | None = None, **load: Any) -> hfcount.Report:
    record_tiny(folder / "org" / "name", family, **(changes or {}))
    return hfcount.verify("org/name", fixtures=folder, **load)


# A tiny llama: 9,480 bytes of weights, 72 of cache a token; 4 query heads, 2 of keys and values.
@pytest.mark.parametrize(
    ("load", "fits", "shared", "codes", "exit_code"),
    [
        ({"memory": 10_000, "engine": "raw"}, True, None, [], 0),
        ({"memory": 9_552, "engine": "raw"}, True, None, [], 0),
        ({"memory": 9_551, "engine": "raw"}, False, None, ["HF602"], 1),
        ({"memory": 9_551, "engine": "raw", "allow": ["HF602"]}, False, None, ["HF602"], 0),
        ({"memory": 10_000, "engine": "raw", "context": 8}, False, None, ["HF602"], 1),
        ({"memory": 10_383}, True, None, [], 0),  # 92 % of it are 9,552
        ({"memory": 10_382}, False, None, ["HF602"], 1),
        ({"memory": 19_104, "engine": "vllm:0.5"}, True, None, [], 0),
        ({"memory": 19_103, "engine": "vllm:0.5"}, False, None, ["HF602"], 1),
        ({"tp": [1]}, None, True, [], 0),
        ({"tp": [3]}, None, False, ["HF601"], 1),
        ({"tp": [3], "allow": ["not-divisible"]}, None, False, ["HF601"], 0),
        ({"tp": [1, 3], "memory": 11_000}, True, False, ["HF601"], 1),
        ({"tp": [1, 3], "memory": 10, "allow": ["HF601"]}, False, False, ["HF601", "HF602"], 1),
        ({"context": 8}, None, None, [], 0),
    ],
)
def test_an_answer_is_beside_the_verdict(
    load: dict[str, Any], fits: bool | None, shared: bool | None, codes: list[str], exit_code: int, tmp_path: Path
) -> None:
    report = asked(tmp_path, **load)
    assert report.serving is not None
    assert (report.serving.fits, report.serving.shared) == (fits, shared)
    assert ([one.code for one in report.findings], report.exit_code) == (codes, exit_code)
    assert (report.verdict, report.ok) == ("verified", True)
    assert {one.finding for one in report.serving.answers if one.answer == "no"} == set(codes)
    dumped = json.loads(report.to_json())
    assert hfcount.Report.model_validate_json(report.to_json()) == report
    assert dumped["serving"]["fits"] is fits


def test_nothing_asked_is_nothing_answered(tmp_path: Path) -> None:
    report = asked(tmp_path)
    assert report.serving is None
    assert "serving" not in json.loads(report.to_json())


@pytest.mark.parametrize(
    ("changes", "load"),
    [({"dtype": None}, {"memory": 10**9, "depth": "config"}), ({}, {"tp": [2]})],
    ids=["no-dtype", "what-no-engine-splits"],
)
def test_what_is_unknown_is_neither_yes_nor_no(changes: Json, load: dict[str, Any], tmp_path: Path) -> None:
    if changes:
        report = asked(tmp_path, "llama", changes, **load)
    else:
        values = json.loads((ARCHITECTURES / "rwkv.json").read_text(encoding="utf-8"))["config"]
        report = hfcount.verify(save(tmp_path, values), depth="config", **load)
    assert report.serving is not None
    assert [one.answer for one in report.serving.answers] == ["unknown"]
    assert all(one.reason for one in report.serving.answers)
    assert (report.findings, report.exit_code) == ((), 3)
    assert "unknown whether" in render([report])
    assert (changes == {}) or "--depth headers shows how many bytes are stored" in verdict(report)


def test_where_the_cache_is_unknown_the_weights_are_said(tmp_path: Path) -> None:
    report = asked(tmp_path, "llama", {"dtype": None}, memory=10**9)
    assert "unknown whether it fits" in verdict(report)
    assert report.memory is not None
    assert report.memory.weights_bytes
    assert verdict(report).endswith(f"its weights alone need {binary(report.memory.weights_bytes)}")


def test_a_broken_checkpoint_stays_a_mismatch(tmp_path: Path) -> None:
    folder = tmp_path / "org" / "name"
    record_tiny(folder)
    listed = json.loads((folder / "model.safetensors.index.json").read_text())
    del listed["weight_map"]["model.norm.weight"]
    (folder / "model.safetensors.index.json").write_text(json.dumps(listed))
    for memory in ("1GB", 10):
        report = hfcount.verify("org/name", fixtures=tmp_path, memory=memory)
        assert (report.verdict, report.exit_code) == ("mismatch", 1)
        assert "1 error (HF201 missing-tensor)" in render([report])


def test_strict_makes_what_one_engine_refuses_a_no(tmp_path: Path) -> None:
    changes = {"hidden_size": 48, "num_attention_heads": 12, "num_key_value_heads": 12, "intermediate_size": 48}
    load: dict[str, Any] = {"changes": {**changes, "vocab_size": 64}, "tp": [3]}
    lenient, strict = asked(tmp_path, **load), asked(tmp_path, **load, strict=True)
    assert [(one.code, one.severity) for one in lenient.findings] == [("HF601", "note")]
    assert (lenient.verdict, lenient.exit_code) == ("verified", 0)
    assert (strict.verdict, strict.exit_code) == ("verified", 1)


def test_quiet_has_both_and_the_sum_counts_refusals(tmp_path: Path) -> None:
    record_tiny(tmp_path / "org" / "name")
    args = ["--fixtures", str(tmp_path), "org/name", "org/name", "--memory", "9KB", "--tp", "1,3", "-q"]
    result = CliRunner().invoke(main, args, standalone_mode=False)
    lines = result.output.splitlines()
    assert result.return_value == 1
    assert lines[0] == (
        "org/name: verified: 4,740 parameters: all names and the total size match; 3 GPUs cannot share"
        " it; on 1 GPU it does not"
        " fit in 8.79 KiB, of which vLLM uses 8.09 KiB: 9.26 KiB weights"
    )
    assert lines[-1] == "2 models: 2 verified; 2 do not fit, 2 cannot be shared by that many"


@pytest.mark.parametrize("style", [name for name in FORMATS if name != "csv-long"])  # which has components alone
def test_every_format_says_what_does_not_fit(style: str, tmp_path: Path) -> None:
    report = asked(tmp_path, memory=9_000)
    text = FORMATS[style].render([report])
    assert ("HF602" if style != "badge" else "does not fit") in text  # a badge has no room for codes
    assert "verified" in text or style in ("sarif", "gitlab")  # which have findings alone


@pytest.mark.parametrize(
    ("memory", "fix"),
    [
        (
            {"memory": "65GiB", "context": 20_000, "engine": "raw"},
            "Up to 16,284 tokens fit. On 2 GPUs it fits (--tp 2).",
        ),
        ({"memory": "10GiB"}, "On 8 GPUs it fits (--tp 8)."),
        ({"memory": "10GiB", "tp": [2]}, "On 8 GPUs it fits (--tp 8)."),
    ],
)
def test_what_would_fit_fits(memory: dict[str, Any], fix: str) -> None:
    (finding,) = hfcount.verify("Qwen/Qwen3-32B", fixtures=FIXTURES, **memory).findings
    assert finding.fix == fix
    ranks = int(fix.partition("--tp ")[2].rstrip(")."))
    serving = hfcount.verify("Qwen/Qwen3-32B", fixtures=FIXTURES, **(memory | {"tp": [ranks]})).serving
    assert serving is not None
    assert serving.fits


def test_an_engine_keeps_to_its_share() -> None:
    serving = hfcount.verify("Qwen/Qwen3-32B", fixtures=FIXTURES, memory="80GiB", tp=[1, 2]).serving
    assert serving is not None
    assert serving.engine == "vLLM"
    assert [(one.engine, one.ranks, one.bytes) for one in serving.engines] == [
        ("vLLM", ranks, 80 * 2**30 * 92 // 100) for ranks in (1, 2)
    ]
    assert serving.engines[0].largest_context == (80 * 2**30 * 92 // 100 - 65_524_246_528) // 262_144


@pytest.mark.parametrize(
    ("args", "code", "answer"),
    [
        (["H100"], 0, "fits in 80 GB (74.51 GiB), at most 30,806 tokens"),
        (["H100", "--context", "32k"], 1, "and 8.00 GiB cache; up to 30,806 tokens fit"),
        (["H100", "--context", "32k", "--engine", "raw"], 0, "fits in 80 GB (74.51 GiB)"),
    ],
)
def test_every_way_of_showing_gives_the_answer_of_the_exit_code(args: list[str], code: int, answer: str) -> None:
    args = ["--fixtures", str(FIXTURES), "Qwen/Qwen3-32B", "--memory", *args]
    brief, whole = (CliRunner().invoke(main, [*args, *more], standalone_mode=False) for more in (["-q"], []))
    assert (brief.return_value, whole.return_value) == (code, code)
    assert brief.output.rstrip().endswith(answer)
    row = next(line for line in whole.output.splitlines() if line.startswith("in 80 GB"))
    assert ("does not fit" in row) is bool(code)


@pytest.mark.parametrize("name", ["sglang", "vllm:2", "vllm:0", "raw:0.5", "vllm:", ""])
def test_shares_that_are_not_known(name: str) -> None:
    with pytest.raises(ValueError, match=r"vllm:0\.9"):
        engine_share(name)


def test_an_engine_serves_no_mlx(tmp_path: Path) -> None:
    quantization = {"group_size": 64, "bits": 4, "mode": "affine"}
    report = asked(tmp_path, changes={"quantization": quantization}, memory="1MB", depth="config")
    assert report.serving is not None
    assert (report.serving.engine, report.serving.engines) == (None, ())


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}


@pytest.mark.parametrize(
    ("values", "path", "tokens", "source"),
    [
        ({"max_position_embeddings": 40960}, "", 40960, "max_position_embeddings"),
        ({"model_type": "gpt2", "n_positions": 512}, "", 512, "n_positions"),
        ({"model_type": "gpt2"}, "", 1024, "n_positions, by default"),
        ({"max_position_embeddings": 8192, "model_max_length": 131072}, "", 131072, "model_max_length"),
        ({"max_position_embeddings": 8192, "seq_length": 4096}, "", 4096, "seq_length"),
        (
            {"max_position_embeddings": 40960, "rope_scaling": YARN},
            "", 131072, "rope_scaling.original_max_position_embeddings 32,768 × factor 4 of yarn",
        ),
        (
            {"max_position_embeddings": 40960, "rope_parameters": {"full_attention": YARN, "sliding_attention": {}}},
            "", 131072, "rope_parameters.original_max_position_embeddings 32,768 × factor 4 of yarn",
        ),
        (
            {"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 2}},
            "", 8192, "max_position_embeddings 4,096 × factor 2 of linear",
        ),
        (
            {"max_position_embeddings": 131072, "rope_scaling": {"rope_type": "llama3", "factor": 8.0}},
            "", 131072, "max_position_embeddings",
        ),
        (
            {"max_position_embeddings": 131072, "rope_scaling": {"type": "longrope", "factor": 32}},
            "", 131072, "max_position_embeddings",
        ),
        (
            {"max_position_embeddings": 40960, "rope_scaling": {"type": "yarn", "factor": None}},
            "", 40960, "max_position_embeddings",
        ),
        (
            {"text_config": {"max_position_embeddings": 77}, "max_position_embeddings": 5},
            "text_config.", 77, "text_config.max_position_embeddings",
        ),
        (
            {"model_type": "gemma3_text", "seq_length": 99, "rope_scaling": {"type": "linear", "factor": 8}},
            "", 99, "seq_length",
        ),
        ({"max_position_embeddings": 10**5000}, "", None, None),
        ({"max_position_embeddings": -1, "model_type": []}, "", None, None),
        ({"model_type": "mamba"}, "", None, None),
        ({"rope_scaling": [YARN], "n_positions": True}, "", None, None),
        ({"text_config": 3, "model_type": "x"}, "text_config.", None, None),
    ],
)  # fmt: skip
def test_tokens_that_a_config_allows(values: Json, path: str, tokens: int | None, source: str | None) -> None:
    found = longest(values, path)
    assert (found and found.tokens, found and found.source) == (tokens, source)


def test_more_than_the_config_allows_is_said(tmp_path: Path) -> None:
    report = asked(tmp_path, changes={"max_position_embeddings": 64}, memory="1MB", context=100)
    assert report.serving is not None
    assert (report.serving.context_limit, report.serving.context_limit_source) == (64, "max_position_embeddings")
    text = " ".join(FORMATS["table"].render([report]).split())
    assert "tokens (config: max_position_embeddings), less than the 100 you asked for" in text
    assert "; the config allows 64" in text


@pytest.mark.parametrize(
    ("text", "devices", "size"),
    [
        ("80GiB", 1, 80 * 2**30),
        ("80G", 1, 80 * 10**9),
        ("H100", 1, 80 * 10**9),
        ("2xH100", 2, 80 * 10**9),
        ("8 × 24 GiB", 8, 24 * 2**30),
        ("4*RTX 4090", 4, 24 * 10**9),
        ("NVIDIA H100 80GB", 1, 80 * 10**9),
        ("H100 SXM5", 1, 80 * 10**9),
        ("NVIDIA H100 80GB HBM3", 1, 80 * 10**9),
        ("NVIDIA A100-SXM4-40GB", 1, 40 * 10**9),
        ("NVIDIA GH200 480GB", 1, 96 * 10**9),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 1, 16 * 10**9),
        ("A6000", 1, 48 * 10**9),
        ("RTX 4060", 1, 8 * 10**9),
        ("RTX 4070 Ti", 1, 12 * 10**9),
        ("2x3090 Ti", 2, 24 * 10**9),
        ("Apple M4 Max 64GB", 1, 64 * 10**9),
        ("DGX Spark", 1, 128 * 10**9),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 1, 96 * 10**9),
        ("RTX PRO 6000 Max-Q", 1, 96 * 10**9),
        ("RTX PRO 6000 Blackwell Server Edition", 1, 96 * 10**9),
        ("RTX 3050 6GB", 1, 6 * 10**9),
        ("GB300", 1, 270 * 10**9),
        ("TPU7x", 1, 192 * 10**9),
        ("AMD Radeon PRO W7900", 1, 48 * 10**9),
        ("3080MiB", 1, 3080 * 2**20),
        ("4 TiB", 1, 4 * 2**40),
    ],
)
def test_memory_of_devices(text: str, devices: int, size: int) -> None:
    assert devices_in(text) == (devices, size)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("80", "Write 80GiB, or 80GB."),
        ("3090", "Did you mean RTX 3090, RTX 3090 Ti?"),
        ("3090 GB", "Did you mean RTX 3090, RTX 3090 Ti?"),
        ("80Ti", "neither an amount"),
        ("80T", "neither an amount"),
        ("5TiB", "at most 4 TiB"),
        ("M4 Max", "M4 Max is sold with 36GB, 48GB, 64GB or 128GB. Write which, such as M4 Max 128GB."),
        ("H100 94GB", "H100 has 80GB. For another amount, write only that: 94GB."),
        ("RTX 6000", "RTX 6000 ADA"),
        ("RTX A5000 Max-Q", "neither an amount"),  # which has less than the card of that name
        ("TPU v4", "neither an amount"),
        ("0xH100", "H100"),
        ("2x", "neither an amount"),
        ("x2", "neither an amount"),
        ("2x80", "Write 80GiB"),
        ("9" * 30 + "GiB", "neither an amount"),
        ("", "neither an amount"),
    ],
)
def test_what_is_no_memory(text: str, hint: str) -> None:
    assert devices_in(text) is None
    assert hint in why_not(text)
    with pytest.raises(ValueError, match=re.escape(hint)):
        hfcount.verify("Qwen/Qwen3-32B", fixtures=FIXTURES, memory=text)


def test_devices_are_ranks() -> None:
    assert (ranks_on(1, (2, 4)), ranks_on(2, ()), ranks_on(2, (2,))) == ((2, 4), (2,), (2,))
    with pytest.raises(ValueError, match="names 2 devices, but --tp says 4"):
        ranks_on(2, (4,))
    assert like("h1000")[0] == "H100"
    args = [str(FIXTURES), "--memory", "2xH100", "--tp", "4"]
    assert CliRunner().invoke(main, args).exit_code == 2
