"""The page about drafts: each command prints what is shown.

`PYTHONPATH=tests/support python tests/docs/test_drafts_page.py` writes that anew.
"""

import re
import tempfile
from pathlib import Path

from build import save
from drafted import DRAFTED, TARGET
from forking import Forks
from test_fix_page import BLOCK, ROOT, output

from hfcount.verifier.rules import RULES

PAGE = ROOT / "hfcount" / "docs" / "drafts.md"


def generated(text: str, folder: Path, forks: Forks) -> str:
    """The page with the output of each command."""
    DRAFTED["EAGLE-3 that fits"].write(folder / "draft")
    save(folder / "target", TARGET)
    save(folder / "larger", TARGET | {"hidden_size": 64})
    return BLOCK.sub(lambda block: f"```console\n$ {block[1]}\n{output(block[1], folder, forks)}```", text)


def test_every_command_prints_what_is_shown(tmp_path: Path, _forks: Forks) -> None:
    text = PAGE.read_text()
    assert len(BLOCK.findall(text)) == text.count("\n$ ") == 2
    assert generated(text, tmp_path, _forks) == text, "PYTHONPATH=tests/support python tests/docs/test_drafts_page.py"


def test_the_table_has_every_rule_of_drafts() -> None:
    named = set(re.findall(r"^\| (HF\d{3} [\w-]+) \|", PAGE.read_text(), re.MULTILINE))
    assert named == {f"{code} {rule.name}" for code, rule in RULES.items() if "HF850" <= code <= "HF859"}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        PAGE.write_text(generated(PAGE.read_text(), Path(made), Forks()))
