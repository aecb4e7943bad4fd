"""tests/tools/releases.py: what new releases change against what is recorded, on made-up records and folders."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import engines
import pytest
from releases import _RECORDERS, Facts, compared, facts, main, report, version

from hfcount.verifier.loaders import recorded

ENGINE: dict[str, Any] = {
    "all": {
        "library": "vllm",
        "version": "1.0",
        "methods": "awq fp8",
        "max_rank": 16,
        "aliases": {"gptq": "auto_gptq"},
        "lines": {"shape": "a.py:10", "rows": "b.py:3"},
    },
    "classes": {
        "A": {"module": "a", "line": "registry.py:10", "drops": ["mtp."]},
        "B": {"module": "b", "line": "registry.py:11"},
    },
}
TYPES: dict[str, Any] = {
    "library": "transformers",
    "version": "1.0",
    "types": {"llama": {"needs": "vocab_size hidden_size", "keys": {"eps": 1e-6}}, "qwen": {"unknown": "too large"}},
}
TRANSLATED: dict[str, Any] = {
    "library": "llama.cpp",
    "version": "1.0",
    "types": [1, 2],
    "architectures": {"llama": {"hparams": [["do", ["key", "get_key", ["s", "%s.a"], "float", True, None, 4]]]}},
}


def changed(record: dict[str, Any], *edits: tuple[str, Any]) -> str:
    """What is said of a record after values at paths of it are set, or taken out where they are None."""
    new = json.loads(json.dumps(record).replace('"1.0"', '"1.1"'))
    for path, value in edits:
        *above, last = path.split("/")
        inner = new
        for key in above:
            inner = inner[key]
        inner.update({last: value}) if value is not None else inner.pop(last)
    return "\n".join(compared(facts(json.dumps(record)), facts(json.dumps(new))))


HPARAMS = "architectures/llama/hparams"


@pytest.mark.parametrize(
    ("record", "edits", "lines"),
    [
        pytest.param(ENGINE, [], ["## vllm 1.0 → 1.1", "Nothing that is recorded differs."], id="nothing"),
        pytest.param(
            ENGINE, [("all/methods", "fp8 new")], ["- `methods`: adds `new`", "- `methods`: drops `awq`"], id="methods"
        ),
        pytest.param(
            ENGINE, [("all/max_rank", 32)], ["- `max_rank`: adds `32`", "- `max_rank`: drops `16`"], id="a number"
        ),
        pytest.param(
            ENGINE, [("all/aliases", {"gptq": "other"})], ["- `aliases`: has otherwise `gptq`"], id="an alias"
        ),
        pytest.param(
            ENGINE,
            [("all/lines/shape", "a.py:99"), ("classes/A/line", "registry.py:12")],
            ["Nothing that is recorded differs."],
            id="moved lines",
        ),
        pytest.param(ENGINE, [("all/lines/shape", None)], ["- `lines`: drops `shape`"], id="a rule that is gone"),
        pytest.param(
            ENGINE,
            [("classes/B", None), ("classes/C", {})],
            ["- classes, new: `C`", "- classes, gone: `B`"],
            id="classes",
        ),
        pytest.param(
            ENGINE,
            [("classes/A/drops", ["vision."]), ("classes/A/retired", "1.0")],
            ["### `drops`: 1 class", "- A: adds `vision.`; drops `mtp.`", "### `retired`: 1 class"],
            id="a class",
        ),
        pytest.param(
            TYPES,
            [("types/llama/needs", "vocab_size")],
            ["### `needs`: 1 type", "- llama: drops `hidden_size`"],
            id="needed keys",
        ),
        pytest.param(TYPES, [("types/llama/keys/eps", 1e-5)], ["- llama: has otherwise `eps`"], id="a default"),
        pytest.param(TYPES, [("types/qwen/unknown", "no config")], ["- qwen: too large → no config"], id="prose"),
        pytest.param(
            TRANSLATED,
            [(HPARAMS, [["do", ["key", "get_key", ["s", "%s.b"], "float", True, None, 4]]])],
            ["- llama: adds `%s.b`; drops `%s.a`"],
            id="metadata",
        ),
        pytest.param(
            TRANSLATED,
            [(HPARAMS, [["do", ["key", "get_key", ["s", "%s.a"], "float", True, None, 9]]])],
            ["Nothing that is recorded differs."],
            id="moved metadata",
        ),
        pytest.param(
            TRANSLATED,
            [(HPARAMS, [["do", ["key", "get_key", ["s", "%s.a"], "float", False, None, 4]]])],
            ["- llama: the same words in another order, or other numbers"],
            id="no longer needed",
        ),
    ],
)
def test_what_differs(record: dict[str, Any], edits: list[tuple[str, Any]], lines: list[str]) -> None:
    text = changed(record, *edits).splitlines()
    assert [line for line in lines if line not in text] == []
    assert ("Nothing that is recorded differs." in text) == ("Nothing that is recorded differs." in lines)


WRITTEN = {
    "transformers": ("transformers/__init__.py", '__version__ = "99.1.0"'),
    "mlx-lm": ("mlx_lm/_version.py", '__version__ = "99.1.0"'),
    "vllm": ("vllm/_version.py", "__version__ = version = '99.1.0'"),
    "sglang": ("sglang/version.py", '__version__ = "99.1.0"'),
}


@pytest.mark.parametrize("library", WRITTEN)
def test_a_folder(library: str, tmp_path: Path) -> None:
    """A version that is recorded is passed over, another one is recorded anew and compared."""

    def recorder(folder: Path) -> Facts:
        return recorded_facts._replace(version=version(folder, library), rows={**recorded_facts.rows, "New": {}})

    newest = recorded.versions(library)[-1]
    recorded_facts = facts(recorded.file(library, newest).decode())
    name, text = WRITTEN[library]
    assert f"- {library}: not in the folder; {newest} is recorded." in report(tmp_path, {library: recorder})
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(text.replace("99.1.0", newest))
    assert f"- {library} {newest} is recorded." in report(tmp_path, {library: recorder})
    (tmp_path / name).write_text(text)
    lines = list(report(tmp_path, {library: recorder}))
    assert f"## {library} {newest} → 99.1.0\n" in lines
    assert f"- {recorded_facts.kind}, new: `New`" in lines


def test_a_release_that_cannot_be_recorded(tmp_path: Path) -> None:
    """It is named with the error, and the next one is listed all the same."""

    def recorder(folder: Path) -> Facts:
        raise LookupError(f"no table in {folder.name}")

    for library in ("vllm", "sglang"):
        name, text = WRITTEN[library]
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    lines = list(report(tmp_path, {"vllm": recorder, "sglang": recorder}))
    assert sum(line.startswith("It could not be recorded: LookupError: no table") for line in lines) == 2


def test_a_rule_whose_text_is_gone(tmp_path: Path) -> None:
    """It has no line, which the comparison names; a record without it is not written."""
    (tmp_path / "a.py").write_text("x = 1\nraise ValueError('never')\n")
    places = {"there": ("a.py", "'never'"), "gone": ("a.py", "'ever so'"), "no file": ("b.py", "x")}
    assert engines.Source(tmp_path).lines(places) == {"there": "a.py:2"}
    with pytest.raises(LookupError, match="rows"):
        engines.write("vllm", "99.1.0", {"lines": {rule: "" for rule in engines.RULES["vllm"] if rule != "rows"}}, {})


def test_every_library_with_a_record_has_a_recorder() -> None:
    folder = Path(recorded.__file__).parent
    records = {path.stem.rpartition("-")[0] for path in folder.glob("*-*.json")}
    assert records == _RECORDERS.keys()


def test_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    paths[0].write_text(json.dumps(ENGINE))
    paths[1].write_text(json.dumps(ENGINE).replace("awq", "hqq"))
    monkeypatch.setattr(sys, "argv", ["releases.py", *map(str, paths)])
    main()
    assert "- `methods`: adds `hqq`" in capsys.readouterr().out


@pytest.mark.long
def test_the_command_runs_recorders(tmp_path: Path) -> None:
    tool = Path(__file__).parent / "tools" / "releases.py"
    done = subprocess.run([sys.executable, tool, tmp_path], stdout=subprocess.PIPE, check=True, text=True)
    assert done.stdout.startswith("# What new releases change\n")
