"""The page about adapters: each command prints what is shown.

`PYTHONPATH=tests/support python tests/docs/test_adapters_page.py` writes that anew.
"""

import re
import tempfile
from pathlib import Path

from build import save
from defects import adapter
from forking import Forks
from test_fix_page import BLOCK, ROOT, output

from hfcount.verifier.rules import RULES

OF_GGUF = ("HF739", "HF740")
"""Rules that the page of GGUF has."""
PAGE = ROOT / "hfcount" / "docs" / "adapters.md"


def generated(text: str, folder: Path, forks: Forks) -> str:
    """The page with the output of each command."""
    made = adapter()
    made.write(folder / "adapter")
    (folder / "adapter" / "config.json").unlink()
    save(folder / "base", made.config)
    save(folder / "wider", made.config | {"intermediate_size": 32})
    return BLOCK.sub(lambda block: f"```console\n$ {block[1]}\n{output(block[1], folder, forks)}```", text)


def test_every_command_prints_what_is_shown(tmp_path: Path, _forks: Forks) -> None:
    text = PAGE.read_text()
    assert len(BLOCK.findall(text)) == text.count("\n$ ") == 2
    assert generated(text, tmp_path, _forks) == text, "PYTHONPATH=tests/support python tests/docs/test_adapters_page.py"


def test_the_table_has_every_rule_of_adapters() -> None:
    named = set(re.findall(r"^\| (HF\d{3} [\w-]+) \|", PAGE.read_text(), re.MULTILINE))
    assert named == {
        f"{code} {rule.name}"
        for code, rule in RULES.items()
        if "HF720" <= code <= "HF730" or ("HF734" <= code <= "HF744" and code not in OF_GGUF)
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        PAGE.write_text(generated(PAGE.read_text(), Path(made), Forks()))
