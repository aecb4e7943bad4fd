"""The page about repairs: every command prints what it shows.

`PYTHONPATH=tests/support python tests/docs/test_fix_page.py` writes that anew.
"""

import os
import re
import shlex
import tempfile
from pathlib import Path

from damaged import prefixed, says, sound
from forking import Forks
from paths import ROOT

from hfcount.verifier.rules import RULES

PAGE = ROOT / "hfcount" / "docs" / "fix.md"
BLOCK = re.compile(r"```console\n\$ (.+)\n((?:.*\n)*?)```")


def generated(text: str, folder: Path, forks: Forks) -> str:
    """The page with the output of each command, run one after the other."""
    says(vocab_size=44)(sound(folder / "my-checkpoint"))
    says(num_hidden_layers=4)(sound(folder / "a-layer-short", "llama", shards=1))
    says(num_key_value_heads=4)(sound(folder / "several", "llama", hidden_size=16))
    prefixed("module.")(sound(folder / "wrapped", shards=1))
    return BLOCK.sub(lambda block: f"```console\n$ {block[1]}\n{output(block[1], folder, forks)}```", text)


def output(command: str, folder: Path, forks: Forks) -> str:
    name, *given = shlex.split(command)
    assert name == "hfcount"
    code, out, err = forks.run(given, folder, os.environ, 600)
    assert (code in (0, 1), err) == (True, "")
    return out


def test_every_command_prints_what_is_shown(tmp_path: Path, _forks: Forks) -> None:
    text = PAGE.read_text()
    assert len(BLOCK.findall(text)) == text.count("\n$ ")
    assert generated(text, tmp_path, _forks) == text, "PYTHONPATH=tests/support python tests/docs/test_fix_page.py"


def test_codes_are_those_of_rules() -> None:
    assert {*re.findall(r"HF\d{3}", PAGE.read_text())} <= {*RULES}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        PAGE.write_text(generated(PAGE.read_text(), Path(made), Forks()))
