"""Tries an installed hfcount: recorded checkpoints, every output, a loopback Hub, the API, from outside the source.

`python smoke.py ROOT`, by the interpreter that hfcount is installed for; ROOT is the source, whose fixtures are read.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import hfcount

root = Path(sys.argv[1])
assert root not in Path(hfcount.__file__).parents, "this is the source, and not what is installed"
sys.path.append(str(root / "tests" / "support"))
from loopback import Hub, write_checkpoint  # noqa: E402 - of the source

FIXTURES = ["--fixtures", str(root / "fixtures")]
OUTPUTS = ("json", "md", "xml", "sarif", "gitlab", "csv", "html", "badge", "svg", "png", "pdf")


def run(*given: str, code: int = 0, script: str = "hfcount", **environment: str) -> str:
    """What a command prints, which must end as it should and complain of nothing."""
    done = subprocess.run([script, *given], env=os.environ | environment, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (code, ""), (given, done.returncode, done.stdout[-2000:], done.stderr)
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    here = Path(folder)
    assert run("--version") == run("--version", script="hf-count") == f"hfcount {hfcount.__version__}\n"
    run(*FIXTURES, "--all")
    run(str(root / ".github" / "examples" / "two-new-tokens"), code=1)
    written = [here / f"report.{suffix}" for suffix in OUTPUTS]
    run(*FIXTURES, "Qwen/Qwen3-32B", "--formula", *(word for path in written for word in ("--output", str(path))))
    assert all(path.stat().st_size for path in written)

    hub = Hub()
    for server in (hub, hub.cdn):
        server.start()
    config = json.loads((root / "fixtures" / "Qwen" / "Qwen3-8B" / "config.json").read_text())
    hub.publish("org/name", write_checkpoint(here / "model", config))
    for depth in ("index", "headers"):
        run("org/name", "--depth", depth, HF_ENDPOINT=hub.url, HF_HOME=str(here / depth))
    run("org/name", "--offline", HF_ENDPOINT=hub.url, HF_HOME=str(here / "index"))
    for server in (hub, hub.cdn):
        server.stop()

    report = hfcount.verify(here / "model")
    assert report.raise_for_verdict().verdict == "verified"
    assert hfcount.Report.model_validate_json(report.to_json()) == report
    assert json.loads(run("--schema"))["title"] == "Report"
print("hfcount", hfcount.__version__, "works as it is installed")
