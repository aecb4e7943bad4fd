"""Writes the generated parts of README.md; `python tests/readme.py` after a change of output, rules or options.

Each generated block has a name, which says how it is made; `console` shows commands after `$` and their output.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from literature import MISTAKES, model
from literature import RULES as RULES_OF_THUMB

from hfcount import families
from hfcount.cli.catalogue import FILE, KINDS
from hfcount.verifier.rules import RULES

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def generated(text: str) -> str:
    """The page with every generated block written anew."""
    return re.sub(
        r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)",
        lambda block: f"{block[1]}{_console(block[3]) if block[2] == 'console' else _BLOCKS[block[2]]()}\n{block[4]}",
        text,
        flags=re.DOTALL,
    )


def commands(text: str) -> list[str]:
    """The commands of all console blocks."""
    blocks = re.findall(r"<!-- generated: console -->\n(.*?)<!-- end -->", text, flags=re.DOTALL)
    return [command for block in blocks for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE)]


def _console(block: str) -> str:
    shown = [f"$ {command}\n{shell(command)}" for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE)]
    return "```console\n" + "\n\n".join(shown) + "\n```"


def shell(command: str) -> str:
    """What a command prints to somebody who has hfcount installed and stands in the project's folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PATH": path, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8"
    )
    if done.returncode or done.stderr:
        raise RuntimeError(f"{command}: exit {done.returncode}: {done.stderr}")
    return done.stdout.strip("\n")


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
    kinds = Counter(one["kind"] for one in json.loads(FILE.read_text()).values())
    rows = [f"| {kind} | {kinds[kind]} |" for kind in KINDS if kinds[kind]]
    count = f"{sum(kinds.values())} values of `model_type` in {sum(1 for _ in families.everyone())} families"
    return "\n".join([f"{count}:\n", "| kind | types |", "|---|--:|", *rows])


def _help() -> str:
    return f"```\n{_run('--help')}\n```"


def _rough() -> str:
    rows = ["| rule | for | model | gives | exact | off by |", "|---|---|---|--:|--:|--:|"]
    for rule in RULES_OF_THUMB:
        rough, exact = rule.numbers
        name, off = (
            Path(rule.model).stem if rule.model.endswith("json") else rule.model.partition("/")[2],
            rough - exact,
        )
        percent = f"{100 * off / exact:+.1f} %" if abs(off) * 2000 >= exact else "< 0.1 %" if off else "0"
        rows.append(f"| {_cell(rule.text)} | {rule.subject} | {name} | {rough:,} | {exact:,} | {percent} |")
    return "\n".join(rows)


def _told() -> str:
    rows = ["| of | told | which comes to | true | because |", "|---|--:|--:|--:|---|"]
    for one in MISTAKES:
        blueprint = model(*one.model)
        rows.append(
            f"| {_cell(one.subject)} | {one.told} | {one.wrong(blueprint):,} | {one.true(blueprint):,} | {one.why} |"
        )
    return "\n".join(rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _stored() -> str:
    entries = json.loads((ROOT / "fixtures" / "published.json").read_text(encoding="utf-8"))
    rows = ["| model | parameters | the Hub counts | for it also counts |", "|---|--:|--:|---|"]
    for name, why in _BESIDE.items():
        (entry,) = [one for one in entries if (one["model"], one["figure"]) == (name, "safetensors_total")]
        rows.append(f"| {name} | {entry['total']:,} | {entry['value']:,} | {why} |")
    return "\n".join(rows)


_BESIDE = {
    "Qwen/Qwen3-0.6B": "the head, stored although it is tied",
    "Qwen/Qwen3-1.7B": "the head, stored although it is tied",
    "tiiuae/falcon-7b-instruct": "the head, stored although it is tied",
    "meta-llama/Llama-2-7b-hf": "32 rotary `inv_freq` buffers of 64",
    "openai-community/gpt2": "12 causal masks of 1,024 × 1,024",
    "google-bert/bert-base-uncased": "the pooler and the next-sentence head, which its config does not name",
    "Qwen/Qwen3-Next-80B-A3B-Instruct": "layers that predict further tokens",
    "zai-org/GLM-4.5": "a layer that predicts further tokens, and its routers' buffers",
}

_BLOCKS = {
    "table": _table,
    "json": _json,
    "rules": _rules,
    "families": _families,
    "help": _help,
    "rough": _rough,
    "told": _told,
    "stored": _stored,
}

PICTURES = {ROOT / ".github" / "components.svg": False, ROOT / ".github" / "components-dark.svg": True}
"""The page's pictures, and whether they are on a dark ground."""

_SERIES = ("0.6B", "1.7B", "4B", "8B", "32B", "30B-A3B", "235B-A22B")


def picture(dark: bool) -> bytes:
    """The Qwen3 models, which differ in size alone, and those with experts, whole and active."""
    from hfcount.fetcher import Request
    from hfcount.pipeline import Options, inspect
    from hfcount.reporters.plots import draw

    entries = json.loads((ROOT / "fixtures" / "published.json").read_text(encoding="utf-8"))
    configs = {entry["model"]: entry["config"] for entry in entries}
    with tempfile.TemporaryDirectory() as folder:
        for name in (names := [f"Qwen/Qwen3-{size}" for size in _SERIES]):
            path = Path(folder) / name / "config.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(configs[name]))
        reports = [inspect(Request(name, fixtures=Path(folder)), Options("config")) for name in names]
    return draw(reports, "svg", dark)


if __name__ == "__main__":
    README.write_text(generated(README.read_text()))
    for path, dark in PICTURES.items():
        path.write_bytes(picture(dark))
