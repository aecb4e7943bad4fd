"""Every defect of defects.py is found on disk and on the Hub, called by its code, and nothing else is found."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import Result, shared
from defects import CASES, EMBED, FIRST, HEAD, INDEX, ON_DISK, SCALE, SECOND, THIRD, TOTAL, write
from drafted import DRAFTED
from loopback import Hub
from tables import over
from valued import VALUED

import hfcount
from hfcount.verifier.rules import RULES

ON_A_HUB = {name: case for name, case in CASES.items() if name not in ON_DISK}
IN_SHORT = [*ON_A_HUB][1::6]
"""The cases that a short run puts on a Hub, where it has all on disk; test_replay.py has others on a Hub."""

NAMES = {name: f"org/case-{number}" for number, name in enumerate(CASES)}

EXIT_CODES = {"verified": 0, "explained": 0, "allowed": 0, "mismatch": 1, "unverified": 3}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every case on disk."""
    root = tmp_path_factory.mktemp("cases")
    return {name: write(name, root / place) for name, place in NAMES.items()}


Published = Callable[[bool], tuple[list[str], Result]]


@pytest.fixture(scope="module")
def published(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Published:
    """What one command asks a Hub that has the cases of a short run, or all others, and what it says of them."""

    @cache
    def of(short: bool) -> tuple[list[str], Result]:
        some = {name: folders[name] for name in ON_A_HUB if (name in IN_SHORT) is short}
        return shared(tmp_path_factory, f"defects-{short}", lambda: _published(some, tmp_path_factory.mktemp("home")))

    return of


def _published(folders: dict[str, Path], home: Path) -> tuple[list[str], Result]:
    hub = Hub()
    for server in (hub, hub.cdn):
        server.start()
    for name, folder in folders.items():
        hub.publish(NAMES[name], folder)
    done = subprocess.run(
        [sys.executable, "-m", "hfcount", "--format", "json", "--depth", "headers", *map(NAMES.get, folders)],
        env=os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HOME": str(home)},
        cwd=home,
        capture_output=True,
        encoding="utf-8",
    )
    for server in (hub, hub.cdn):
        server.stop()
    return hub.paths(), Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def from_the_hub(published: Published) -> Callable[[str], dict[str, Any]]:
    """The report of a case."""

    @cache
    def of(short: bool) -> dict[str, dict[str, Any]]:
        names = [name for name in ON_A_HUB if (name in IN_SHORT) is short]
        return dict(zip(names, published(short)[1].reports, strict=True))

    return lambda name: of(name in IN_SHORT)[name]


def codes(report: dict[str, Any]) -> list[str]:
    return sorted(finding["code"] for finding in report["findings"])


def messages(report: dict[str, Any]) -> str:
    return "\n".join(finding["message"] for finding in report["findings"])


def test_every_rule_has_a_case() -> None:
    raised = {code for case in CASES.values() for code in case.codes.split()}
    raised |= {code for case in VALUED.values() for code in case.codes.split()}
    raised |= {code for case in DRAFTED.values() for code in case.codes.split()}
    assert RULES.keys() - raised == {"HF601", "HF602"}, "which only answer what was asked: test_answers.py"


@over("name", CASES)
def test_on_disk(folders: dict[str, Path], name: str) -> None:
    case, made = CASES[name], hfcount.verify(str(folders[name]))
    report = made.model_dump()
    assert (report["verdict"], codes(report)) == (case.verdict, case.codes.split())
    assert [text for text in case.says if text not in messages(report)] == []
    assert (made.exit_code, made.error.kind if made.error else "") == (EXIT_CODES[case.verdict], case.reason)
    for finding in made.findings:
        assert finding.message.endswith(f". {finding.fix}" if finding.fix else ".")
    assert report["evidence"] is None or report["evidence"]["unlisted"] == case.unlisted


@over("name", ON_A_HUB, short=IN_SHORT)
def test_on_the_hub(from_the_hub: Callable[[str], dict[str, Any]], name: str) -> None:
    case, report = CASES[name], from_the_hub(name)
    assert (report["verdict"], codes(report)) == (case.verdict, case.codes.split())
    assert [text for text in case.says if text not in messages(report)] == []
    assert report.get("error", {"kind": ""})["kind"] == case.reason


@over("name", ON_A_HUB, short=IN_SHORT)
def test_the_hub_says_what_the_disk_says(
    folders: dict[str, Path], from_the_hub: Callable[[str], dict[str, Any]], name: str
) -> None:
    """All but where it is from."""
    of_disk, of_hub = json.loads(hfcount.verify(str(folders[name]), depth="headers").to_json()), from_the_hub(name)
    for finding in (*of_disk["findings"], *filter(None, [of_disk.get("error")])):  # a message names the document
        label = f"{NAMES[name]}@{of_hub['revision'][:7]}"
        said = finding["message"].replace(f"{folders[name]}/", f"{label} ")
        finding["message"] = said.replace(str(folders[name]), label)
    same = of_hub.keys() - {"schema", "model", "revision", "source"}
    assert {key: of_hub[key] for key in same} == {key: of_disk[key] for key in same}


FIRST_HEADER = {"expected": None, "observed": None, "key": None, "file": SECOND}
DTYPE = {"expected": "BF16", "key": "dtype", "file": "config.json"}

VALUES: dict[str, dict[str, Any]] = {
    "a key that nobody reads": {"observed": ("num_towers",), "key": "num_towers", "file": "config.json", "fix": None},
    "truncated": {"key": None, "file": SECOND, "fix": "Upload or download it again."},
    "a shard is missing": {"expected": 3, "observed": 2, "key": None, "file": SECOND},
    "Git LFS pointer": {
        **FIRST_HEADER,
        "fix": "In a clone, run `git lfs pull`. In a repo on the Hub, upload the file itself.",
    },
    "a hole": {**FIRST_HEADER, "fix": "Write or download the file again."},
    "a file outside the repo": {"key": "weight_map", "file": INDEX, "fix": "Write the index again."},
    "several files without an index": {"key": None, "file": INDEX, "fix": "Write the index from the files."},
    "a tensor is missing": {"expected": 30, "observed": 29, "key": None, "file": None},
    "a tensor too many": {"expected": 30, "observed": 31},
    "the last layer is missing": {"expected": 30, "observed": 21, "key": "num_hidden_layers", "file": "config.json"},
    "untied, and no head": {"key": "tie_word_embeddings", "file": "config.json"},
    "tied, and a copy of the head": {"expected": EMBED, "observed": HEAD, "key": "tie_word_embeddings", "fix": None},
    "another head beside": {"observed": ("score.weight",), "key": "architectures", "file": "config.json"},
    "saved from DDP": {"expected": EMBED, "observed": f"module.{EMBED}", "key": None},
    "only the head of a tied pair": {"expected": EMBED, "observed": HEAD},
    "half of a prediction layer": {"expected": 30, "observed": 29, "key": None},
    "a tensor in two files": {"expected": None, "observed": (FIRST, THIRD), "file": FIRST},
    "a tensor that the index omits": {"expected": 30, "observed": 29, "file": INDEX},
    "prediction layers": {"observed": 32, "fix": None},
    "prediction layers that are announced": {
        "expected": 32,
        "observed": 0,
        "key": "num_nextn_predict_layers",
        "fix": "Set num_nextn_predict_layers to 0, or copy the layers from the base model.",
    },
    "model. before no name": {"expected": EMBED, "observed": EMBED.removeprefix("model."), "key": None},
    "key/value heads": {"expected": (24, 12), "observed": (12, 12), "key": "num_key_value_heads"},
    "transposed": {"expected": (12, 24), "observed": (24, 12), "key": None, "file": None},
    "norms in float32": {
        **DTYPE,
        "observed": "F32",
        "fix": "Set dtype in config.json to the stored dtype, or convert the weights.",
    },
    "total_size is stale": {"expected": 2 * TOTAL, "observed": 2 * TOTAL - 10, "key": "metadata.total_size"},
    "total_size is 0": {"expected": None, "observed": 0, "key": "metadata.total_size", "file": INDEX},
    "total_size is negative": {"expected": "a whole number of bytes", "observed": "-1", "key": "metadata.total_size"},
    "total_parameters is off": {"expected": TOTAL, "observed": TOTAL + 5, "key": "metadata.total_parameters"},
    "FP8 in blocks, and a scale is lost": {"tensors": (SCALE,), "count": 1, "parameters": 2, "bytes": None},
    "FP8 in blocks, and a module is dense": {"expected": "FP8 in blocks of 16×16", "key": "quantization_config"},
    "FP8 that is announced, and all is dense": {"count": 21, "key": "quantization_config", "file": "config.json"},
    "no hidden_size": {"expected": None, "observed": None, "key": "hidden_size", "file": "config.json"},
    "heads that cannot be shared": {"key": "num_key_value_heads", "fix": "Correct one of them."},
}
"""What the one finding of a case holds beside its message."""


@pytest.mark.parametrize("name", VALUES)
def test_a_finding_holds_what_its_message_says(folders: dict[str, Path], name: str) -> None:
    (finding,) = hfcount.verify(str(folders[name])).findings
    assert {key: getattr(finding, key) for key in VALUES[name]} == VALUES[name]


def test_the_worst_decides(published: Published) -> None:
    _, result = published(True)
    assert (result.code, result.err) == (1, "")


def test_nothing_is_asked_for_outside_the_repo(published: Published) -> None:
    paths, _ = published(True)
    assert paths
    assert not any("whoami" in path for path in paths)
