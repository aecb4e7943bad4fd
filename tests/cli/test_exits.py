"""How the command ends when something goes wrong: a crash, Ctrl-C, an odd environment; and what it keeps of the Hub."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from build import TINY, save, save_tiny
from conftest import Run, interruptible
from loopback import Fault, Hub

from hfcount.__main__ import run as start
from hfcount.checkpoints import inspect as pipeline
from hfcount.cli.main import run as command

_BARE = [sys.executable, "-m", "hfcount"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with checkpoints in `models`, in which the command runs."""
    for name in ("a", "b/c"):
        save_tiny(tmp_path / "models" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[Any, str, str]:
    monkeypatch.setattr(sys, "argv", ["hfcount", *args])
    with pytest.raises(SystemExit) as ended:
        command()
    return (ended.value.code, *capsys.readouterr())


CRASHES = [KeyError("x"), MemoryError(), RecursionError("too deep\n\x1b[31m"), AssertionError(), OSError(28, "full")]


@pytest.mark.parametrize("error", CRASHES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("debug", [False, True])
def test_a_crash_is_one_line_and_3_and_the_others_go_on(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, debug: bool
) -> None:
    inspect = pipeline.inspect

    def crashing(request: Any, options: Any) -> Any:
        if request.model == "models/a":
            raise error
        return inspect(request, options)

    monkeypatch.setattr(pipeline, "inspect", crashing)
    args = ["models/a", "models/b/c", "--format", "json", *["--debug"] * debug]
    code, out, err = _run(monkeypatch, capsys, *args)
    first, second = map(json.loads, out.splitlines())
    assert (code, second["verdict"], first["model"], first["error"]["kind"]) == (3, "verified", "models/a", "Crash")
    assert first["error"]["message"] == err.splitlines()[-1]
    assert f"crashed: {type(error).__name__}: " in err
    assert "please report it with the command and its --debug output" in err
    assert ("Traceback" in err, err.count("\n") > 1) == (debug, debug)
    assert "\x1b" not in err


@pytest.mark.parametrize("where", ["--format", "--html"])
def test_a_crash_while_the_report_is_made_is_no_traceback(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    def crashing(*args: Any) -> str:
        raise KeyError("x")

    name = "hfcount.report.renderers.table.render" if where == "--format" else "hfcount.report.renderers.html.render"
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[html]'")
    monkeypatch.setattr(name, crashing)
    code, _, err = _run(monkeypatch, capsys, "models/a", where, "table" if where == "--format" else "a.html")
    assert (code, err.count("\n"), "KeyError" in err) == (3, 1, True)


def test_a_command_that_cannot_even_start_says_so(here: Path) -> None:
    program = "import sys; sys.modules['hfcount.cli.dispatch'] = None; from hfcount.__main__ import run; run()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n"), "ModuleNotFoundError" in done.stderr) == (3, 1, True)


@pytest.mark.long
@pytest.mark.parametrize("option", ["--help", "--version", "--rules", "--schema"])
def test_what_is_printed_in_place_of_a_run_may_be_unread_or_not_fit(here: Path, option: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody, open("/dev/full", "wb") as full:
        runs = [subprocess.run([*_BARE, option], stdout=out, stderr=subprocess.PIPE) for out in (nobody, full)]
    assert [(run.returncode, run.stderr) for run in runs] == [
        (0, b""),
        (3, b"Error: the output could not be written: No space left on device\n"),
    ]


@pytest.mark.parametrize(
    "closed",
    [">&-", *(pytest.param(one, marks=pytest.mark.long) for one in ("2>&-", "<&-", ">&- 2>&-")), "<&- >&- 2>&-"],
)
@pytest.mark.parametrize(("model", "code"), [("models/a", 0), ("models/none", 3)])
def test_closed_streams_are_no_crash(here: Path, closed: str, model: str, code: int) -> None:
    command = f'exec "$0" -m hfcount --format json "$1" {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable, model], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "")
    assert bool(done.stdout) == (">&-" not in closed.split())


def test_what_is_no_file_is_no_weight_file(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save(here / "models" / "b", TINY["llama"])
    (here / "models" / "b" / "model.safetensors").mkdir()
    shard = here / "models" / "a" / "model-00001-of-00001.safetensors"
    shard.unlink()
    shard.mkdir()
    for name in ("models/a", "models/b"):
        code, out, err = _run(monkeypatch, capsys, name, "--format", "json")
        assert (code, err, "is not a regular file" in json.loads(out)["error"]["message"]) == (3, "", True)


def test_a_full_disk_is_no_crash(here: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*_BARE, "models/a"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (3, "Error: the report could not be written: No space left on device\n")


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("click", ["--strict"]),
        ("hfcount.cli.main", ["--strict"]),
        ("hfcount.cli.plain", []),
        ("hfcount.architectures", []),
        ("hfcount.fetcher.folder", []),
        ("hfcount.report.renderers.json", []),
        ("json.tool", []),
    ],
)
def test_ctrl_c_while_importing_is_one_line(here: Path, module: str, options: list[str]) -> None:
    program = f"""
import os, signal, sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupted())
sys.argv = ["hfcount", "models/a", "--format", "json", *{options}]
from hfcount.__main__ import run
run()
"""
    with interruptible():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    interrupted = module != "json.tool"  # which nothing imports
    assert (done.returncode, done.stderr) == ((130, "interrupted\n") if interrupted else (0, ""))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "model.safetensors", "revision/main"])
def test_ctrl_c_while_the_hub_is_silent_is_one_line(hub: Hub, tmp_path: Path, name: str) -> None:
    save_tiny(tmp_path / "m")
    hub.publish("org/name", tmp_path / "m")
    hub.faults[name] = [Fault(delay=60)]
    environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    with interruptible():
        run = subprocess.Popen(
            [*_BARE, "org/name", "--depth", "headers"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    while not any(name in seen.path for seen in hub.requests) and run.poll() is None:
        time.sleep(0.02)
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    out, err = run.communicate()
    assert (run.returncode, out, err) == (130, b"", b"interrupted\n")
    assert time.monotonic() - began < 30  # the answer takes 60


def test_the_process_ends_with_the_code_of_the_command(here: Path) -> None:
    save(here / "gone", TINY["llama"], {"weight_map": {}})
    codes = [
        subprocess.run([*_BARE, name, "--depth", "index"], capture_output=True).returncode
        for name in ("models/a", "gone", "nowhere.json", "a b")
    ]
    assert codes == [0, 1, 3, 3]
    assert start.__module__ == "hfcount.__main__"


ENVIRONMENTS = {
    "a number that is none": ({"HF_HUB_ETAG_TIMEOUT": "abc"}, "abc"),
    "an endpoint that is none": ({"HF_ENDPOINT": "http://[::1"}, "Correct it"),
    "a port that is none": ({"HF_ENDPOINT": "http://127.0.0.1:99999"}, "Correct it"),
    "a token in another alphabet": ({"HF_TOKEN": "hf_→"}, "HF_TOKEN"),
    "a token with a bell": ({"HF_TOKEN": "hf_\x07"}, "HF_TOKEN"),
    "a proxy that is none": ({"http_proxy": "http://[::1", "NO_PROXY": ""}, "proxy"),
}


@pytest.mark.parametrize("odd", ENVIRONMENTS)
def test_an_odd_environment_is_an_error_in_words(run: Run, odd: str) -> None:
    environment, said = ENVIRONMENTS[odd]
    result = run("org/name", env=environment)
    assert (result.code, result.err, said in result.report["error"]["message"]) == (3, "", True)
    assert "hf_" not in result.out


@pytest.mark.parametrize(
    "environment", [{"HF_TOKEN": "hf_a\nb\r\n"}, {"HF_HOME": "/dev/null/x"}, {"HF_HOME": "/proc/x"}], ids=str
)
def test_what_does_no_harm_is_ignored(hub: Hub, run: Run, tmp_path: Path, environment: dict[str, str]) -> None:
    save_tiny(tmp_path / "m")
    hub.publish("org/name", tmp_path / "m")
    assert (run("org/name", env=environment).code, run("./m", env=environment).code) == (0, 3)


def test_what_is_kept_is_kept_until_it_is_cleared(hub: Hub, run: Run, tmp_path: Path) -> None:
    save_tiny(tmp_path / "m")
    hub.publish("org/name", tmp_path / "m")
    kept = tmp_path / "home" / "assets" / "hfcount"
    assert (run("org/name", "--no-cache").code, list(kept.rglob("*.json"))) == (0, [])
    asked = len(hub.requests)
    assert (run("org/name").code, run("org/name").code) == (0, 0)
    size = sum(one.stat().st_size for one in kept.rglob("*") if one.is_file())
    assert len(hub.requests) - asked == asked + 1
    assert (run("org/name", "--no-cache").code, len(hub.requests)) == (0, 3 * asked + 1)
    cleared = run("--clear-cache")
    assert (cleared.code, cleared.out, cleared.err) == (0, f"removed {kept} ({size:,} bytes)\n", "")
    assert list(kept.rglob("*")) == []
    assert run("--clear-cache", env={"HF_HOME": "/dev/null/x"}).code == 3


def test_timeout_bounds_the_run(hub: Hub, run: Run, tmp_path: Path) -> None:
    save_tiny(tmp_path / "m")
    hub.publish("org/name", tmp_path / "m")
    hub.faults["config.json"] = [Fault(delay=300)]
    result = run("org/name", "--timeout", "1.5")
    assert (result.code, result.report["error"]["kind"]) == (3, "NoNetwork")
    assert "--timeout" in result.report["error"]["message"]


@pytest.mark.parametrize(
    "model",
    [
        "{url}/org/name/tree/v1/text?x=1",
        "hf://org/name@v1/text",
        "https://huggingface.co/org/name/blob/v1/text/config.json",
    ],
)
def test_a_pasted_model_is_reported_by_its_name(hub: Hub, run: Run, tmp_path: Path, model: str) -> None:
    save_tiny(tmp_path / "m" / "text")
    commit = hub.publish("org/name", tmp_path / "m", "v1")
    report = run(model.format(url=hub.url)).report
    assert (report["model"], report["revision"], report["verdict"]) == ("org/name/text", commit, "verified")
    assert run(model.format(url=hub.url), "--revision", "v1", "--subfolder", "text").report == report | {
        "source": "hub"
    }
    gone = run("https://huggingface.co/org/gone").report
    assert (gone["model"], gone["error"]["kind"]) == ("org/gone", "NoSuchRepo")
    other = run("https://me:secret@example.com/org/name?signature=secret")
    assert (other.code, other.report["error"]["kind"], "secret" in other.out) == (3, "BadName", False)


def test_recursive_reads_every_checkpoint(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "models" / "only-a-config").mkdir()
    (here / "models" / "only-a-config" / "config.json").write_text("{}")
    (here / "models" / "only-an-index").mkdir()
    (here / "models" / "only-an-index" / "model.safetensors.index.json").write_text("{}")
    save(here / "models" / "weights", TINY["llama"])
    (here / "models" / "weights" / "model.safetensors").write_bytes(b"")
    code, out, _ = _run(monkeypatch, capsys, "--recursive", "models", "--format", "json")
    reports = [json.loads(line) for line in out.splitlines()]
    assert [report["model"] for report in reports] == ["models/a", "models/b/c", "models/weights"]
    assert ([report["verdict"] for report in reports], code) == (["verified", "verified", "mismatch"], 1)
    assert _run(monkeypatch, capsys, "--recursive", "models/b/c", "--format", "json")[0] == 0


@pytest.mark.parametrize(("folder", "said"), [("models/only", "no config.json"), ("nowhere", "not a folder")])
def test_recursive_says_where_there_is_none(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: str, said: str
) -> None:
    (here / "models" / "only").mkdir()
    code, out, _ = _run(monkeypatch, capsys, "--recursive", folder, "--format", "json")
    assert (code, said in json.loads(out)["error"]["message"]) == (3, True)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--recursive", "models", "--revision", "v1"], "--recursive does not go with"),
        (["--recursive", "models", "--subfolder", "x"], "--recursive does not go with"),
        (["--recursive", "models", "--fixtures", "x"], "--recursive does not go with"),
        (["models/a", "--revision", "v1"], "models/a is a local folder, which has no revisions"),
        (["models/a/config.json", "--revision", "v1"], "is a local file, which has no revisions"),
        (["--fixtures", "models", "a", "--revision", "v1"], "--fixtures is a local folder"),
        (["org/name@v1", "--revision", "v2"], "names the revision v1, but the option names v2. Leave one out."),
        (["models/a", "hf://org/name/a", "--subfolder", "b"], "names the subfolder a, but the option names b."),
        (["org/name", "--timeout", "0"], "--timeout"),
        (["org/name", "--timeout", "nan"], "timeout is nan"),
        (["org/name", "--timeout", "soon"], "--timeout"),
    ],
    ids=" ".join,
)
def test_wrong_usage(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: list[str], said: str
) -> None:
    code, out, err = _run(monkeypatch, capsys, *args)
    assert (code, out, said in err) == (2, "", True)
