"""The package as others use it: what it exports, what it refuses, what crosses processes, what is installed with it."""

import gc
import json
import os
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from copy import copy
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from build import TINY, save_tiny
from paths import ROOT

import hfcount
from hfcount.checkpoints.inspect import Options, inspect
from hfcount.errors import FetchError, HfcountError
from hfcount.fetcher import Request

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def _shapes(config: Mapping[str, Any]) -> dict[str, Any]:
    return {one.name: (one.shape, "BF16") for one in hfcount.blueprint(config).tensors()}


class Array:
    shape, dtype = (12,), "torch.bfloat16"


def test_tensors_are_verified_before_they_are_saved() -> None:
    config = TINY["llama"]
    report = hfcount.verify_tensors(config, _shapes(config) | {"model.norm.weight": Array()})
    assert (report.verdict, report.source, report.ok, bool(report)) == ("verified", "memory", True, True)
    assert report.raise_for_verdict() is report
    lost = {name: one for name, one in _shapes(config).items() if name != "model.norm.weight"}
    report = hfcount.verify_tensors(config, lost)
    assert ([finding.code for finding in report.findings], report.ok, bool(report)) == (["HF201"], False, False)
    with pytest.raises(hfcount.NotVerified, match=r"mismatch: 1 error.*HF201") as raised:
        report.raise_for_verdict()
    assert raised.value.report is report
    assert hfcount.verify_tensors(config, lost, allow=["missing-tensor"]).verdict == "allowed"


def test_a_path_is_local_and_a_report_shows_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_tiny(tmp_path / "org" / "m")
    monkeypatch.chdir(tmp_path)
    report = hfcount.verify(Path("org/m"), depth="config", formula=True, context=32)
    assert repr(report) == f"<Report .{os.sep}org/m: unverified>"
    assert report.formula is not None
    assert (report.memory and report.memory.context) == 32
    assert "unverified" in report._repr_html_()
    assert report.to_markdown() == report._repr_markdown_()
    assert report.to_html().startswith("<!DOCTYPE html>")


def test_what_ifs_are_counted_beside_what_is_published(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    changes = [{"num_key_value_heads": 1}, {"num_key_value_heads": 4}]
    reports = hfcount.what_ifs(tmp_path, changes, quantize=["awq", "fp8"])
    assert [len(report.overrides or {}) for report in reports] == [0, 2, 2, 2, 2]
    with pytest.raises(hfcount.BadSetting, match="num_heeds"):
        hfcount.what_ifs(tmp_path, [{"num_heeds": 1}])


_SHOW = """
import pickle, sys
report = pickle.loads(bytes.fromhex(sys.argv[1]))
from hfcount.report.model import Report
for one in (report, Report.model_validate_json(sys.argv[2])):
    print(len(one.to_markdown()), len(one.to_html()), len(one._repr_html_()))
    try:
        one.raise_for_verdict()
    except Exception as error:
        print(error)
"""


@pytest.mark.long
def test_a_report_shows_itself_wherever_it_comes_from() -> None:
    report = hfcount.verify_tensors(TINY["llama"], {})
    shown = [len(report.to_markdown()), len(report.to_html()), len(report._repr_html_())]
    with pytest.raises(hfcount.NotVerified) as raised:
        report.raise_for_verdict()
    command = [sys.executable, "-c", _SHOW, pickle.dumps(report).hex(), report.to_json()]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines() == [" ".join(map(str, shown)), str(raised.value)] * 2


def test_garbage_collection_is_the_callers(tmp_path: Path) -> None:
    seen: list[bool] = []

    def progress(_files: int) -> Callable[[], None]:
        seen.append(gc.isenabled())
        return lambda: None

    request = Request(str(save_tiny(tmp_path / "tree" / "model")))
    before = gc.isenabled()
    try:
        for switch in (gc.enable, gc.disable):
            switch()
            inspect(request, Options("headers", progress=progress))
            with ThreadPoolExecutor(1) as threads:
                hfcount.sweep(tmp_path / "tree", tmp_path / f"out{len(seen)}", executor=threads)
            seen.append(gc.isenabled())
    finally:
        (gc.enable if before else gc.disable)()
    assert seen == [True, True, False, False]


def test_a_formula_shows_itself() -> None:
    formula = hfcount.blueprint(TINY["llama"]).formula()
    assert repr(formula).startswith("<Formula ")
    assert formula._repr_latex_().startswith("$$")


def test_a_config_with_labels_by_number_is_read() -> None:
    labelled = {**TINY["llama"], "id2label": {0: "no", 1: "yes"}}
    assert hfcount.blueprint(labelled).total == hfcount.blueprint(TINY["llama"]).total


def test_dir_lists_what_is_public() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import hfcount; print(*dir(hfcount))"], capture_output=True, text=True, check=True
    )
    assert set(hfcount.__all__) <= set(done.stdout.split())
    assert all(hasattr(hfcount, name) for name in hfcount.__all__)


# Wrong arguments

WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a model that is a number": (lambda: hfcount.verify(3), TypeError, r"model is 3 \(int\).* must be a str"),
    "a model that is a path": (lambda: hfcount.verify(Path("org/m")), hfcount.FetchError, "no folder|not a folder"),
    "a rule that there is not": (lambda: hfcount.verify("m", allow=["HF999"]), ValueError, "allow names 'HF999'"),
    "a rule that is no list": (lambda: hfcount.verify("m", allow="HF201"), TypeError, "allow is .* must be a list"),
    "no tokens": (lambda: hfcount.verify("m", context=0), ValueError, "context is 0"),
    "a cache of words": (lambda: hfcount.verify("m", kv_dtype="words"), ValueError, "kv_dtype .*'words'.*float16"),
    "changes that are no list": (lambda: hfcount.what_ifs("m", {"hidden_size": 8}), TypeError, "changes .*a list"),
    "a scheme that is no list": (lambda: hfcount.what_ifs("m", quantize="fp8"), TypeError, "quantize .*a list"),
    "a scheme that there is not": (lambda: hfcount.what_ifs("m", quantize=["q9"]), ValueError, "quantize .*'q9'.*awq"),
    "tensors that are a list": (lambda: hfcount.verify_tensors({}, []), TypeError, "tensors is .* must be a dict"),
    "a tensor that is a number": (
        lambda: hfcount.verify_tensors({}, {"a": 3}),
        TypeError,
        "a is 3 .*shape and a dtype",
    ),
    "a dtype of no file": (lambda: hfcount.verify_tensors({}, {"a": ((1,), "F3")}), ValueError, "no dtype F3"),
    "a revision that is a number": (lambda: hfcount.verify("m", revision=3), TypeError, "revision is 3"),
    "fixtures that are a number": (lambda: hfcount.verify("m", fixtures=3), TypeError, "fixtures is 3"),
    "a depth that there is not": (lambda: hfcount.verify("m", depth="deep"), ValueError, "depth .*'deep'.*headers"),
    "a config that is a list": (lambda: hfcount.blueprint([]), TypeError, "config is of type list.* dict"),
    "a config that is a name": (lambda: hfcount.blueprint("config.json"), TypeError, '"config.json".* must be a dict'),
    "a key that is a number": (lambda: hfcount.blueprint({3: 4}), TypeError, r"the key 3 \(int\)"),
    "a config that is nothing": (lambda: hfcount.blueprint(None), TypeError, "config is of type NoneType"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_named_with_what_it_must_be(case: str) -> None:
    call, kind, said = WRONG[case]
    with pytest.raises(kind, match=said):
        call()


# Other processes


def _errors(kind: type[HfcountError] = HfcountError) -> Iterator[HfcountError]:
    yield FetchError("NoNetwork", "no way out") if kind is FetchError else kind("it is wrong")
    for one in kind.__subclasses__():
        yield from _errors(one)


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        yield executor


@pytest.mark.parametrize("value", [Request("m", fixtures=Path("f")), Options()], ids=lambda value: type(value).__name__)
def test_what_is_asked_crosses_processes(pool: ProcessPoolExecutor, value: object) -> None:
    assert pool.submit(copy, value).result() == value


@pytest.mark.parametrize("error", [*_errors()], ids=lambda error: type(error).__name__)
def test_errors_cross_processes(pool: ProcessPoolExecutor, error: HfcountError) -> None:
    error.add_note("said by a worker")
    back = pool.submit(copy, error).result()
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
    assert back.kind == error.kind


def test_answers_cross_processes(pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    save_tiny(tmp_path / "m")
    assert pool.submit(hfcount.verify, "m", fixtures=tmp_path).result() == hfcount.verify("m", fixtures=tmp_path)
    blueprint = pool.submit(hfcount.blueprint, TINY["llama"]).result()
    assert (blueprint, blueprint.total) == (hfcount.blueprint(TINY["llama"]), 4740)
    assert blueprint.formula().total == hfcount.blueprint(TINY["llama"]).formula().total
    with pytest.raises(FetchError) as raised:
        pool.submit(hfcount.verify, "gone", fixtures=tmp_path).result()
    assert raised.value.kind == "NoSuchFolder"


# What is loaded

_TELL = """
import json, sys, hfcount
assert hfcount.verify("m", fixtures=sys.argv[1]).verdict == "verified"
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_verifying_a_fixture_loads_neither_a_validator_nor_a_client(tmp_path: Path) -> None:
    save_tiny(tmp_path / "m")
    done = subprocess.run([sys.executable, "-c", _TELL, tmp_path], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert (
        loaded
        & {
            *("pydantic", "pydantic_core", "huggingface_hub", "requests", "httpx", "httpx2", "urllib3", "http", "ssl"),
            *("click", "rich", "concurrent", "tempfile"),
        }
        == set()
    )
    assert "hfcount" in loaded


_ALONE = """
import sys
sys.modules["click"] = sys.modules["rich"] = None
import hfcount
from types import SimpleNamespace
report = hfcount.verify("checkpoint-1").raise_for_verdict()
assert report.to_json() and report.to_markdown() and report.findings == ()
assert hfcount.diff("checkpoint-1", "checkpoint-1").to_json()
assert str(hfcount.saves("checkpoint-1"))
seen = []
callback = hfcount.VerifyCallback(on_report=lambda folder, report: seen.append(report.verdict), depth="headers")
callback.on_save(SimpleNamespace(output_dir="."), SimpleNamespace(global_step=1, is_world_process_zero=True), None)
print(seen)
"""


def test_a_program_needs_neither_click_nor_rich(tmp_path: Path) -> None:
    """What a trainer imports draws no tables and parses no command line."""
    save_tiny(tmp_path / "checkpoint-1")
    command = [sys.executable, "-c", _ALONE]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("['verified']\n", 0), done.stderr


# What is installed


def test_types_are_shipped() -> None:
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["hfcount"]}  # and so every file of that folder
    assert (ROOT / "hfcount" / "py.typed").is_file()
