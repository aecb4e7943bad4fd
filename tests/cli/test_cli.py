"""The command as a user runs it: what it prints, where, and how it exits."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import click
import pytest
from build import COMMIT, TINY, config, index, raw, save, save_tiny
from conftest import Command
from spread import spread

import hfcount
from hfcount.cli.commands import find
from hfcount.cli.main import main
from hfcount.report.renderers import FORMATS, Format
from hfcount.verifier.rules import RULES

FIXTURES = ("--fixtures", "fixtures")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("org/verified", 0),
        ("org/explained", 0),
        ("org/mismatch", 1),
        ("org/malformed", 1),
        ("org/unverified", 3),
        ("org/unindexed", 3),
        ("org/unknown", 3),
        ("org/nowhere", 3),
        ("../org/verified", 3),
    ],
)
def test_exit_codes_are_those_of_the_verdict_in_every_format(
    command: Command, model: str, code: int, style: str
) -> None:
    result = command(*FIXTURES, model, "--format", style)
    assert (result.code, bool(result.out), result.err) == (code, True, "")


@pytest.mark.parametrize(
    ("models", "code"),
    [
        ("verified explained", 0),
        ("verified unverified", 3),
        ("nowhere verified", 3),
        ("unverified mismatch verified", 1),
        ("mismatch nowhere", 1),
    ],
)
def test_of_several_models_the_worst_decides(command: Command, models: str, code: int) -> None:
    result = command(*FIXTURES, "--format", "json", *(f"org/{model}" for model in models.split()))
    assert result.code == code
    assert [report["model"] for report in result.reports] == [f"org/{model}" for model in models.split()]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "Name a MODEL"),
        (["--all"], "--all needs --fixtures"),
        ([*FIXTURES, "--all", "org/verified"], "--all needs --fixtures"),
        (["--fixtures", "fixtures"], "Name a MODEL"),
        (["m", "--depth", "deep"], "--depth"),
        (["m", "--format", "yaml"], "--format"),
        (["m", "--allow", "HF999"], "there is no finding HF999"),
        (["m", "--allow", "missing tensor"], "there is no finding missing tensor"),
        (["m", "--allow", "\x1b[31m"], "there is no finding"),
        (["m", "--nonsense"], "--nonsense"),
        (["m", "--revision"], "--revision"),
        (["m", "--save"], "--save"),
    ],
    ids=lambda value: ascii(" ".join(value)) if isinstance(value, list) else "",
)
def test_wrong_usage(command: Command, args: list[str], said: str) -> None:
    result = command(*args)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert "\x1b" not in result.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--fixtures", "nowhere", "--all"], "nowhere is not a folder"),
        (["--fixtures", "empty", "--all"], "no config.json anywhere below empty"),
        (["--fixtures", "nowhere", "org/verified"], "nowhere is not a folder"),
        (["./nowhere"], "there is no folder or file nowhere"),
        (["./empty"], "empty has no config.json"),
        (["--offline", "org/name"], "not in the cache"),
        (["--offline", "no repo id"], "not a valid repo id"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_could_not_be_looked_at_is_said_and_exits_3(command: Command, args: list[str], said: str) -> None:
    result = command(*args)
    assert result.code == 3
    assert said in re.sub(r"\s+", " ", result.out + result.err)
    assert "Traceback" not in result.err


def test_json_is_one_line_for_each_model_whatever_comes_of_it(command: Command) -> None:
    result = command(*FIXTURES, "--all", "--format", "json")
    assert result.out.isascii()
    assert {report["model"]: report["verdict"] for report in result.reports} == {
        "org/verified": "verified",
        "org/explained": "explained",
        "org/mismatch": "mismatch",
        "org/malformed": "mismatch",
        "org/unverified": "unverified",
        "org/unindexed": "unverified",
        "org/unknown": "unverified",
    }
    errors = {report["model"]: report["error"]["kind"] for report in result.reports if "error" in report}
    assert errors.pop("org/unknown") == "UnknownArchitecture"
    assert list(errors) == ["org/unindexed"]
    assert result.code == 1


def test_several_models_are_summed_up_and_those_that_fail_are_shown_in_full(command: Command) -> None:
    result = command(*FIXTURES, "org/verified", "org/mismatch", "--format", "markdown")
    assert "2 models: 1 verified, 1 mismatch" in result.out
    head, _, rest = result.out.partition("\n\n")
    details, weights, comparison = rest.rpartition("weights")
    assert [name in head for name in ("org/verified", "org/mismatch", weights)] == [True, True, False]
    assert [name in details for name in ("HF201", "org/mismatch", "org/verified")] == [True, True, False]
    assert [name in comparison for name in ("org/verified", "org/mismatch")] == [True, True]


def test_several_models_have_one_table_then_their_findings_and_a_last_line_for_all(command: Command) -> None:
    models = "org/verified", "org/mismatch", "org/explained", "org/nowhere"
    result = command(*FIXTURES, *models)
    head, notes, bad, unread, last = result.out.rstrip("\n").replace("\n\nerror", "\nerror").split("\n\n")
    assert [line.split()[:2] for line in head.splitlines()[1:]] == [
        ["org/verified", "verified"],
        ["org/mismatch", "mismatch"],
        ["org/explained", "explained"],
        ["org/nowhere", "unverified"],
    ]
    assert head.splitlines()[0].split() == ["model", "verdict", "parameters", "weights", "findings"]
    assert notes.startswith("org/explained: explained: ")
    assert bad.startswith("org/mismatch\nmismatch: 1 error (HF201 missing-tensor)\nerror HF201 missing-tensor\n")
    assert unread.startswith("org/nowhere\nunverified: ")
    assert last == "4 models: 1 verified, 1 explained, 1 mismatch, 1 unverified"
    whole = command(*FIXTURES, *models, "--details").out
    assert [whole.count(f"\n{model}\n") for model in models] == [1, 1, 1, 1]
    assert whole.endswith(f"{last}\n")


@pytest.mark.parametrize(
    ("args", "begins"),
    [
        (("-q", "--details"), "org/verified\nverified: "),
        (("--details", "-q"), "org/verified: verified: "),
        (("--details", "--format", "json"), '{"schema": 1'),
        (("--format", "json", "-q"), "org/verified: verified: "),
    ],
)
def test_the_last_way_of_showing_is_taken(command: Command, args: tuple[str, ...], begins: str) -> None:
    result = command(*FIXTURES, "org/verified", *args)
    assert (result.code, result.out.startswith(begins)) == (0, True)


@pytest.mark.parametrize(
    ("model", "args", "code"),
    [
        ("explained", ["--strict"], 1),
        ("explained", ["--strict", "--allow", "HF203"], 0),
        ("explained", ["--strict", "--allow", "tied-weight-stored"], 0),
        ("verified", ["--strict"], 0),
        ("mismatch", ["--allow", "HF201"], 0),
        ("mismatch", ["--allow", "hf201"], 0),
        ("mismatch", ["--allow", "missing-tensor"], 0),
        ("mismatch", ["--allow", "HF202"], 1),
        ("mismatch", ["--allow", "HF202", "--allow", "HF201"], 0),
        ("unverified", ["--strict"], 1),
        ("mismatch", ["--depth", "config"], 0),
        ("verified", ["--depth", "config", "--strict"], 0),
        ("malformed", ["--depth", "config"], 1),
        ("verified", ["--depth", "index"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_counts_as_an_error(command: Command, model: str, args: list[str], code: int) -> None:
    assert command(*FIXTURES, f"org/{model}", *args).code == code


@pytest.mark.parametrize("style", ["table", "markdown"])
@pytest.mark.parametrize(
    ("option", "said"),
    [("--tensors", "model.layers.{0-2}.mlp.up_proj.weight"), ("--formula", "vocab")],
)
def test_extras_are_printed_when_asked_for(command: Command, option: str, said: str, style: str) -> None:
    plain, asked = (command(*FIXTURES, "org/verified", "--format", style, *extra) for extra in ([], [option]))
    assert (said in plain.out, said in asked.out) == (False, True)


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ([], set()),
        (["--tensors"], {"tensors"}),
        (["--formula"], {"formula"}),
        (["--formula", "--tensors"], {"tensors", "formula"}),
    ],
    ids=["none", "tensors", "formula", "both"],
)
def test_extras_are_in_the_json_when_asked_for(command: Command, options: list[str], keys: set[str]) -> None:
    (report,) = command(*FIXTURES, "org/verified", "--format", "json", *options).reports
    assert report.keys() & {"tensors", "formula"} == keys


def test_a_recording_is_replayed(command: Command) -> None:
    first = command(*FIXTURES, "--all", "--save", "saved", "--format", "json")
    again = command("--fixtures", "saved", "--all", "--format", "json")
    assert (again.code, again.out) == (first.code, first.out)


def test_a_local_folder_and_a_subfolder(command: Command, tmp_path: Path) -> None:
    save_tiny(tmp_path / "org" / "whole")
    assert command("./org/whole").code == 0
    assert command("org", "--subfolder", "whole").code == 0
    assert command(*FIXTURES, "org", "--subfolder", "verified").code == 0


_OLD = ("--rules", "--families", "--schema", "--clear-cache")
"""Spellings that work, and that commands have taken the place of."""


@pytest.mark.parametrize("name", ["verify", "size", "serve", "gate"])
def test_the_usual_options_are_on_one_screen(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    find(name).main(["-h"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines) <= 24, max(map(len, lines)) < 80) == (True, True)


def test_help_shows_examples_exit_codes_and_every_option(command: Command) -> None:
    result, surfaces = command("--help"), [find(name) for name in ("size", "serve", "gate")]
    texts = [result.out, *(surface.get_help(click.Context(surface)) for surface in surfaces)]
    assert (result.code, result.err) == (0, "")
    assert [part for part in ("Examples:", "Exit codes:", "hfcount Qwen/Qwen3-32B") if part not in result.out] == []
    names = [name for option in main.params for name in option.opts if name[0] == "-" and name not in _OLD]
    assert [name for name in names if not any(name in text for text in texts)] == []
    assert [line for line in result.out.splitlines() if len(line) > 100] == []


def test_help_names_what_strict_leaves_alone(command: Command) -> None:
    *some, last = (rule.code for rule in RULES.values() if rule.informational)
    assert f"except informational ones ({', '.join(some)} and {last})" in re.sub(r"\s+", " ", command("--help").out)


def test_version(command: Command) -> None:
    result = command("--version")
    assert (result.code, result.out.endswith(f"hfcount {hfcount.__version__}\n")) == (0, True)


def test_rules_explains_each(command: Command) -> None:
    result = command("--rules")
    assert result.code == 0
    for rule in RULES.values():
        assert f"{rule.code} {rule.name} ({rule.level})\n  {rule.what}\n" in result.out


def test_schema_is_that_of_the_report(command: Command) -> None:
    result = command("--schema")
    assert (result.code, json.loads(result.out)) == (0, hfcount.Report.model_json_schema())


def test_a_format_is_a_file_and_a_row(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is in the table is offered, explained, and printed by its own `render`."""
    reported = ModuleType("hfcount.report.renderers.reported")
    monkeypatch.setattr(reported, "render", lambda reports: " ".join(report.verdict for report in reports), False)
    monkeypatch.setitem(sys.modules, reported.__name__, reported)
    for name, streamed in (("whole", False), ("lines", True)):
        monkeypatch.setitem(FORMATS, name, Format("reported", "for a test", streamed))
        (style,) = (option for option in main.params if option.name == "style")
        monkeypatch.setattr(style, "type", click.Choice(list(FORMATS)))
        result = command(*FIXTURES, "org/verified", "org/mismatch", "--format", name)
        assert (result.code, result.out) == (1, f"verified{chr(10) if streamed else ' '}mismatch\n")


HOSTILE = "\x1b[31mred\x1b[0m\u202e\u2028\r\x08"


@pytest.mark.parametrize("style", spread(FORMATS, 2))
def test_nothing_foreign_reaches_the_terminal_raw(command: Command, style: str) -> None:
    listed = index(TINY["llama"])
    listed["weight_map"][HOSTILE] = "model.safetensors"
    values = config("llama", dtype=HOSTILE, **{HOSTILE: 1})
    save(Path("fixtures") / "org" / HOSTILE, values, listed)
    result = command(*FIXTURES, f"org/{HOSTILE}", f"org/{HOSTILE}/nowhere", "--format", style)
    assert [line for line in (result.out + result.err).split("\n") if not line.isprintable()] == []


_NETWORK = {"httpx", "httpx2", "requests", "urllib3", "aiohttp", "http", "ssl", "pydantic", "pydantic_core"}
_DRAWING = {"matplotlib", "numpy", "jinja2", "markupsafe"}

_TELL = """
import json, sys
from hfcount.cli.main import main
for line in json.loads(sys.argv[1]):
    code = main(line, standalone_mode=False)
    print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""

_OFFLINE = [["./m"], ["--fixtures", ".", "m"], ["--fixtures", ".", "m", "--save", "saved"], ["--offline", "org/name"]]
"""Runs without a network, one after the other in one process; the last may import what the others may not."""


def _cached(home: Path) -> None:
    repo = home / "hub" / "models--org--name"
    save_tiny(repo / "snapshots" / COMMIT)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(COMMIT)


@pytest.mark.parametrize(
    ("style", "forbidden"),
    [
        ("json", _NETWORK | _DRAWING | {"rich"}),
        ("markdown", _NETWORK | _DRAWING | {"rich"}),
        ("table", _NETWORK | _DRAWING | {"rich"}),
    ],
)
def test_an_offline_run_imports_neither_an_http_client_nor_a_validator(
    tmp_path: Path, style: str, forbidden: set[str]
) -> None:
    save_tiny(tmp_path / "m")
    _cached(tmp_path / "home")
    done = subprocess.run(
        [sys.executable, "-c", _TELL, json.dumps([[*line, "--format", style] for line in _OFFLINE])],
        cwd=tmp_path,
        env=os.environ | {"HF_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for line, said in zip(_OFFLINE, done.stderr.splitlines(), strict=True):
        code, loaded = json.loads(said)
        unneeded = forbidden if "--offline" in line else forbidden | {"huggingface_hub"}
        if "--offline" in line and int(version("huggingface_hub").partition(".")[0]) < 1:
            unneeded -= _NETWORK  # its settings import them
        assert (code, unneeded & {*loaded}) == (0, set()), line


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    save_tiny(tmp_path / "m")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "hfcount", "m", "--fixtures", ".", "--tensors"],
            cwd=tmp_path,
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8"])
def test_a_formula_is_printed_on_any_terminal(tmp_path: Path, encoding: str) -> None:
    save_tiny(tmp_path / "m")
    done = subprocess.run(
        [sys.executable, "-m", "hfcount", "./m", "--formula"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding=encoding,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "4,740" in done.stdout


@pytest.mark.parametrize("name", [b"\xff", b"\xf0\x9f"], ids=repr)
def test_a_name_that_is_no_text_is_shown_escaped(tmp_path: Path, name: bytes) -> None:
    folder = os.fsencode(tmp_path) + b"/" + name
    os.mkdir(folder)
    with open(folder + b"/config.json", "wb") as file:
        file.write(raw(TINY["llama"]))
    done = subprocess.run(
        [sys.executable, "-m", "hfcount", "--format", "json", "--depth", "config", b"./" + name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["model"].startswith("./\\udc")


@pytest.fixture
def alone(command: Command, tmp_path: Path) -> str:
    """A config by its own file, under a name that no checkpoint has."""
    (tmp_path / "mine.json").write_bytes(raw(TINY["llama"]))
    return "mine.json"


def test_a_config_is_counted_by_its_own_file(command: Command, alone: str) -> None:
    (report,) = command(alone, "--format", "json").reports
    assert (report["model"], report["source"], report["depth"]) == (alone, "folder", "config")
    assert (report["parameters"]["total"], report["verdict"], report["error" if "error" in report else "checks"]) == (
        4740,
        "unverified",
        [],
    )
    assert command(alone).code == command(f"./{alone}").code == 0


@pytest.mark.parametrize("depth", ["index", "headers"])
def test_a_config_alone_cannot_be_compared(command: Command, alone: str, depth: str) -> None:
    result = command(alone, "--depth", depth, "--format", "json")
    assert (result.code, result.reports[0]["error"]["kind"]) == (3, "NoIndex")


def test_a_config_file_may_be_broken(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"model_type": "llama"')
    result = command("mine.json", "--format", "json")
    assert (result.code, result.reports[0]["findings"][0]["code"]) == (1, "HF001")


def test_what_ifs_stand_beside_the_model(command: Command, alone: str) -> None:
    result = command(alone, "--set", "num_key_value_heads=4", "--set", "num_key_value_heads=1", "--format", "json")
    assert result.code == 0
    assert [(report.get("overrides"), report["parameters"]["total"]) for report in result.reports] == [
        (None, 4740),
        ({"num_key_value_heads": 4}, 5172),
        ({"num_key_value_heads": 1}, 4524),
    ]


@pytest.mark.parametrize("style", ["table", "markdown"])
def test_a_comparison_is_all_that_counting_prints(command: Command, alone: str, style: str) -> None:
    text = command(alone, "--set", "num_key_value_heads=4", "--format", style).out
    assert [text.count(said) for said in ("4,740", "5,172", "unverified")] == [1, 1, 0]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--set", "num_kv_heads=4"], "Nearest: num_key_value_heads"),
        (["--set", "num_key_value_heads"], "not KEY=VALUE"),
        (["--set", "=4"], "not KEY=VALUE"),
        (["--set", "hidden_size=4", "--depth", "index"], "--depth index"),
        (["--set", "hidden_size=4", "--save", "saved"], "--save"),
        (["--context", "0"], "--context"),
        (["--batch", "none"], "--batch"),
        (["--kv-dtype", "int3"], "--kv-dtype"),
        (["--plot", "sizes.gif"], ".svg or .png or .pdf"),
        (["--html", "mine.json"], ".html or .htm"),
        (["--html", ""], ".html or .htm"),
        (["--batch", "2"], "--context"),
        (["--dark"], "--plot"),
        (["--set", "num_key_value_heads=3"], "not a multiple"),
        (["--plot", "nowhere/sizes.svg"], "nowhere is not a folder"),
        (["--html", "nowhere/page.html"], "nowhere is not a folder"),
    ],
    ids=" ".join,
)
def test_wrong_wishes(command: Command, alone: str, args: list[str], said: str) -> None:
    result = command(alone, *args)
    assert (result.code, result.out, said in result.err) == (2, "", True)


def test_serving_by_context_batch_and_dtype(command: Command, alone: str) -> None:
    wishes = ["--context", "10", "--batch", "3", "--kv-dtype", "float32"]
    (report,) = command(alone, *wishes, "--format", "json").reports
    kept = 3 * 2 * 2 * 3  # layers, keys and values, heads, width
    assert (report["memory"]["kv_bytes_per_token"], report["memory"]["kv_bytes"]) == (kept * 4, kept * 4 * 10 * 3)
    matrices = 3 * (2 * 12 * 12 + 2 * 12 * 6 + 3 * 12 * 20) + 50 * 12
    assert report["compute"] == {
        "per_token": matrices,
        "per_position": 3 * 2 * 12,
        "context": 10,
        "at_context": matrices + 3 * 2 * 12 * 10,
    }


@pytest.mark.parametrize(
    ("option", "file", "module"), [("--plot", "a.svg", "matplotlib"), ("--html", "a.html", "jinja2")]
)
def test_an_extra_that_is_not_installed_is_named(
    command: Command, alone: str, monkeypatch: pytest.MonkeyPatch, option: str, file: str, module: str
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else find_spec(name))
    result = command(alone, option, file)
    assert (result.code, f"{module} is not installed" in result.err, f"pip install {module}" in result.err) == (
        2,
        True,
        True,
    )


@pytest.mark.parametrize(("option", "name"), [("--plot", "a.svg"), ("--html", "a.html")])
def test_outputs_go_through_links_and_spare_what_is_no_file(
    command: Command, alone: str, tmp_path: Path, option: str, name: str
) -> None:
    pytest.importorskip("matplotlib" if option == "--plot" else "jinja2", reason="the extra is not installed")
    (tmp_path / "kept").write_text("earlier")
    (tmp_path / name).symlink_to("kept")
    assert command(alone, option, name).code == 0
    assert (tmp_path / name).is_symlink()
    assert (tmp_path / "kept").read_bytes() != b"earlier"
    os.mkfifo(tmp_path / f"fifo{name}")
    (tmp_path / f"folder{name}").mkdir()
    for other in (f"fifo{name}", f"folder{name}"):
        assert command(alone, option, other).code == 2
    assert (tmp_path / f"fifo{name}").is_fifo()


@pytest.mark.parametrize("words", ["./m --format json --html a.html", "diff ./m ./m --json -o a.html"])
def test_outputs_are_written_though_nobody_reads_the_report(tmp_path: Path, words: str) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[html]'")
    save_tiny(tmp_path / "m")
    program = f"{sys.executable} -m hfcount {words} | true"
    done = subprocess.run(["bash", "-c", program], cwd=tmp_path, capture_output=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")


def test_what_is_named_like_a_config_is_looked_for_as_a_file(command: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    kinds = [
        command(model, "--format", "json").reports[0]["error"]["kind"]
        for model in ("pipe.json", "nowhere/config.json", "./gone.json")
    ]
    assert kinds == ["UnreadableFile", "NoConfig", "NoConfig"]


def test_weights_that_are_quantised_are_not_guessed(command: Command, tmp_path: Path) -> None:
    values = config("llama", quantization_config={"quant_method": "vptq"})
    (tmp_path / "packed.json").write_bytes(raw(values))
    memory = command("packed.json", "--format", "json").reports[0]["memory"]
    assert (memory["weights_bytes"], memory["weights"], "vptq" in memory["weights_why"]) == (None, None, True)
    assert memory["kv_bytes_per_token"] == 72


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["./fix"], "file,./fix"),
        (["--output", "json:a"], "file,json:a"),
        (["--list", "mod"], "file,mod"),
        (["--allow", "HF601"], "plain,HF601"),
        (["--allow", "not-div"], "plain,not-divisible"),
        (["--rules", "hf601"], "plain,HF601"),
        (["--families", "qwen3_ne"], "plain,qwen3_next"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_completion_offers_files_codes_and_types(words: list[str], offered: str) -> None:
    shell = {
        "_HFCOUNT_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["hfcount", *words]),
        "COMP_CWORD": str(len(words)),
    }
    program = "from hfcount.cli.main import main; main(prog_name='hfcount')"
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | shell, capture_output=True, encoding="utf-8", timeout=600
    )
    assert done.stdout.splitlines() == [offered]
