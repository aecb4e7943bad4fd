"""Sentences that findings and repairs write name the library, in its version, of whose doings they tell."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hfcount
from hfcount.verifier.loaders.facts import versions
from hfcount.verifier.loaders.labels import NEWEST

ROOT = Path(hfcount.__file__).parent
ANONYMOUS = re.compile(
    r"\b(strict |other |earlier )?(loaders|readers|engines) (that|may|skip|ignore|use|take|look|lose|convert|do|fail)\b"
    r"|\bearlier versions\b(?! of)|\bothers may\b|\bharmless\b|\bno harm\b|\btransformers [45](?!\.\d)"
    r"|\b(a|some|other|strict) (loader|loaders|readers|engines)\b",
    re.IGNORECASE,
)
ROOMS = ("checkpoints", "diffing", "fetcher", "formats", "mapper", "quantization", "repair", "report", "serving")


def _sentences(file: Path) -> Iterator[str]:
    """The texts of a file but those of its docstrings; of the files of findings the first of each class, too."""
    tree = ast.parse(file.read_text())
    silent = set()
    for node in ast.walk(tree):
        for statement in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                is_rule = isinstance(node, ast.ClassDef) and "rules" in file.parts and statement is node.body[0]
                silent |= set() if is_rule else {id(statement.value)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.value.partition("\n\n")[0]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("room", ["verifier", *ROOMS])
def test_no_sentence_tells_of_a_loader_without_its_name(room: str) -> None:
    written = [
        (file.name, text)
        for file in sorted((ROOT / room).rglob("*.py"))
        for text in _sentences(file)
        if ANONYMOUS.search(text) and "hf114" not in file.name
    ]
    assert written == []


@pytest.mark.parametrize(
    "text", ["Strict loaders refuse it.", "transformers 5 loads both", "others may read one", "A loader builds"]
)
def test_what_is_anonymous(text: str) -> None:
    assert ANONYMOUS.search(text)


def test_the_newest_is_the_last_that_is_recorded() -> None:
    assert f"transformers {versions()[-1]}".startswith(f"{NEWEST}.")
