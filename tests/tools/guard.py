"""Writes the reports of many checkpoints to files, so that two versions of hfcount can be compared with diff.

    python tests/tools/guard.py OUT [ROOT ...]

writes OUT/<case>.json, one report a file with every tensor and formula: of all recorded architectures, and of every
checkpoint below each ROOT (fixtures/ when none is given), by its documents alone and, where it has weight files, as a
local folder. Run it before a change and after it, and compare the two folders. `--record` writes fixtures/reports.json,
a digest of each field, which the tests hold every change against.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORDED = FIXTURES / "reports.json"

Json = dict[str, Any]


def reports(roots: list[Path], every: int = 1) -> Iterator[tuple[str, Json]]:
    """The name of each case and its report; of the architectures each `every`-th alone."""
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((FIXTURES / "architectures").glob("*.json"), key=lambda path: path.stem)[::every]:
            config = json.loads(path.read_text())["config"]
            place = Path(folder) / "architectures" / path.stem
            place.mkdir(parents=True)
            (place / "config.json").write_text(json.dumps(config))
        yield from _said("architectures", Path(folder), "--fixtures", f"{folder}/architectures", "--all")
    for root in roots:
        yield from _said(root.name, root, "--fixtures", str(root.resolve()), "--all")
        opened = {path.parent for path in root.rglob("*.safetensors") if (path.parent / "config.json").exists()}
        if opened:
            yield from _said(f"{root.name}-opened", root, *(f"./{path.relative_to(root)}" for path in sorted(opened)))


def _said(name: str, root: Path, *models: str) -> Iterator[tuple[str, Json]]:
    command = [sys.executable, "-m", "hfcount", "--format", "json", "--tensors", "--formula", *models]
    away = {"HF_ENDPOINT": "http://127.0.0.1:9", "PYTHONPATH": str(FIXTURES.parent)}
    done = subprocess.run(command, cwd=root, env=os.environ | away, capture_output=True, text=True, check=False)
    if done.stderr:
        raise SystemExit(done.stderr)
    for line in done.stdout.splitlines():
        report = json.loads(line)
        yield f"{name}/{report['model'].removeprefix('./')}", report


def digest(report: Json) -> dict[str, str]:
    """A short digest of every field of a report."""
    return {name: sha256(json.dumps(value).encode()).hexdigest()[:8] for name, value in report.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("roots", type=Path, nargs="*")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    if options.record:
        lines = (f" {json.dumps(case)}: {json.dumps(digest(report))}" for case, report in reports([FIXTURES]))
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return
    if options.out is None:
        parser.error("name a folder OUT, or --record")
    for case, report in reports(options.roots or [FIXTURES]):
        path = options.out / f"{case}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
