"""Writes what the commands of the tutorials print: `python tests/tools/tutorials.py`.

A tutorial's commands are run one after the other, in a folder that holds what its reader has, against a Hub on this
machine that has the models it names.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path

from blocks import DOCS, ROOT

sys.path.append(str(ROOT / "tests" / "support"))
from build import config
from defects import write
from loopback import Hub, Repo, write_checkpoint
from readme import DESK

TUTORIALS = DOCS / "tutorials"
PAGES = sorted(TUTORIALS.glob("*.md"))
BLOCK = re.compile(r"```console\n(\$ .*?)```", re.DOTALL)

HOSTED = ("Qwen/Qwen3-8B", "Qwen/Qwen3-32B", "Qwen/Qwen3-235B-A22B")
"""Repos of the Hub that tutorials name: with files of their size, which hold no weights."""


def _fine_tune(here: Path) -> None:
    """Two checkpoints of a training; before the second, two tokens were added, and the config was not told."""
    for step, rows in ((1000, 96), (2000, 98)):
        folder = write_checkpoint(here / "trained" / f"checkpoint-{step}", _model(vocab_size=rows))
        _says(folder, vocab_size=96)


def _merge(here: Path) -> None:
    """A model of more layers, made of those of two, with the config of one."""
    write_checkpoint(here / "base", _model(num_hidden_layers=4))
    write_checkpoint(here / "other", _model(num_hidden_layers=4))
    _says(write_checkpoint(here / "merged", _model(num_hidden_layers=6)), num_hidden_layers=4)


def _quantise(here: Path) -> None:
    write("FP8 in blocks", here / "model-fp8")
    write("FP8 in blocks, and a scale is lost", here / "model-fp8-lost")


def _publish(here: Path) -> None:
    write_checkpoint(here / "my-model", _model(), shards=3)


def _nothing(here: Path) -> None:
    """What is on the Hub is enough."""


READERS: Mapping[str, Callable[[Path], None]] = {
    "fine-tune.md": _fine_tune,
    "merge.md": _merge,
    "publish.md": _publish,
    "quantise.md": _quantise,
    "serve.md": _nothing,
    "study.md": _nothing,
}
"""Makes what the reader of each tutorial has in a folder."""


def _model(**changes: object) -> dict[str, object]:
    sizes = {"vocab_size": 96, "hidden_size": 32, "intermediate_size": 80, "head_dim": 8, "num_hidden_layers": 2}
    return config("qwen3", **(sizes | changes))


def _says(folder: Path, **values: int) -> None:
    """Sets keys of the config, which is written as transformers writes it."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values, indent=2, sort_keys=True) + "\n")


def written(page: Path, hub: Hub, here: Path) -> str:
    """The page with what its commands print, run in a folder that is made for it."""
    READERS[page.name](here)
    environment = _environment(here, hub)
    return BLOCK.sub(lambda block: f"```console\n{_shown(block[1], here, environment)}\n```", page.read_text())


def _environment(here: Path, hub: Hub) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    home = {"HF_ENDPOINT": hub.url, "HF_HOME": str(here / ".home"), "PATH": path}
    return os.environ | DESK | home


def _shown(block: str, here: Path, environment: Mapping[str, str]) -> str:
    commands = re.findall(r"^\$ (.+)$", block, re.MULTILINE)
    return "\n\n".join(f"$ {command}\n{_output(command, here, environment)}" for command in commands)


def _output(command: str, here: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=here, env=environment, capture_output=True, encoding="utf-8"
    )
    if done.returncode > 1 or done.stderr:  # 1 is a mismatch, which tutorials show, too
        raise RuntimeError(f"{command}: exit {done.returncode}: {done.stderr}")
    return done.stdout.strip("\n")


@contextmanager
def hosting(hosted: Path) -> Iterator[Hub]:
    """A Hub that has the models which tutorials name, in a folder."""
    hub = Hub()
    for name in HOSTED:
        folder = write_checkpoint(hosted / name, json.loads((ROOT / "fixtures" / name / "config.json").read_text()))
        commit = sha1(name.encode()).hexdigest()  # the same wherever this runs
        hub.repos[name] = Repo(commits={commit: folder}, refs={"main": [commit]})
    for server in (hub, hub.cdn):
        server.start()
    yield hub
    for server in (hub, hub.cdn):
        server.stop()


def main() -> None:
    with tempfile.TemporaryDirectory() as hosted, hosting(Path(hosted)) as hub:
        for page in PAGES:
            with tempfile.TemporaryDirectory() as here:
                page.write_text(written(page, hub, Path(here)))


if __name__ == "__main__":
    main()
