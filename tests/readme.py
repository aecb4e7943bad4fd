"""Writes the generated parts of README.md; `python tests/readme.py` after a change of output, rules or options."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from hfcount import families
from hfcount.verifier.rules import RULES

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def generated(text: str) -> str:
    """The page with every generated block written anew."""
    return re.sub(
        r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)",
        lambda block: f"{block[1]}{_BLOCKS[block[2]]()}\n{block[3]}",
        text,
        flags=re.DOTALL,
    )


def _run(*args: str) -> str:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "hfcount", *args]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.rstrip()


def _table() -> str:
    return f"```\n{_run('--fixtures', 'fixtures', 'Qwen/Qwen3-32B')}\n```"


def _json() -> str:
    report = json.loads(_run("--fixtures", "fixtures", "--format", "json", "meta-llama/Llama-2-7b-hf"))
    flat = json.dumps(report, indent=2, ensure_ascii=False)
    # One line for each small object, so that the shape is seen at a glance.
    flat = re.sub(r"\{[^{}]*\}", lambda part: " ".join(part[0].split()), flat)
    return f"```json\n{flat}\n```"


def _rules() -> str:
    rows = [f"| {rule.code} | {rule.name} | {rule.severity} | {rule.what} |" for rule in RULES.values()]
    return "\n".join(["| code | name | severity | when |", "|---|---|---|---|", *rows])


def _families() -> str:
    types = families.all_types()
    count = f"{len(types)} values of `model_type` in {sum(1 for _ in families.everyone())} families"
    return f"{count}; `hfcount --families` says what each is built of:\n\n{', '.join(types)}."


def _help() -> str:
    return f"```\n{_run('--help')}\n```"


_BLOCKS = {"table": _table, "json": _json, "rules": _rules, "families": _families, "help": _help}

if __name__ == "__main__":
    README.write_text(generated(README.read_text()))
