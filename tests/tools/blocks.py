"""The generated blocks of README.md and the pages, by name."""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import hfcount
from hfcount.architectures import families
from hfcount.cli.architectures import FILE, KINDS
from hfcount.verifier.finding import Finding
from hfcount.verifier.rules import RULES

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from defects import CASES, Case, write  # noqa: E402 - lies in tests/support
from drafted import DRAFTED, Drafted  # noqa: E402 - lies in tests/support
from incidents import INCIDENTS, Incident  # noqa: E402 - lies in tests/support
from literature import MISTAKES, model  # noqa: E402 - lies in tests/support
from literature import RULES as RULES_OF_THUMB  # noqa: E402 - lies in tests/support
from valued import VALUED, Valued  # noqa: E402 - lies in tests/support

DOCS = ROOT / "hfcount" / "docs"


def _run(*args: str) -> str:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "hfcount", *args]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode <= 1, done.stderr  # 1 is a mismatch, which is an answer, too
    return done.stdout.rstrip()


def _pages() -> str:
    """The pages, in one paragraph."""
    links = (f"[{page.stem}]({page.relative_to(ROOT).as_posix()})" for page in sorted(DOCS.glob("*.md")))
    return "\n".join(f"{link}," for link in links).rstrip(",") + "."


def _tutorials() -> str:
    return "\n".join(
        _link(page).replace("[Tutorial: ", f"[{page.stem}: ") for page in sorted(DOCS.glob("tutorials/*.md"))
    )


def _link(page: Path) -> str:
    title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return f"- [{title}]({page.relative_to(ROOT).as_posix()})"


def _help() -> str:
    return f"```\n{_run('--help').replace('python -m hfcount', 'hfcount')}\n```"


def _surfaces() -> str:
    shown = (
        _run(name, "--help").replace("python -m hfcount", "hfcount").rstrip() for name in ("size", "serve", "gate")
    )
    return "\n\n".join(f"```\n{text}\n```" for text in shown)


# The JSON


def _json() -> str:
    report = json.loads(_run("--fixtures", "fixtures", "--format", "json", "meta-llama/Llama-2-7b-hf"))
    flat = json.dumps(report, indent=2, ensure_ascii=False)
    # One line for each small object, so that the shape is seen at a glance.
    flat = re.sub(r"\{[^{}]*\}", lambda part: " ".join(part[0].split()), flat)
    return f"```json\n{flat}\n```"


def _fields() -> str:
    """The objects of the JSON: what their classes say of themselves, and their fields."""
    schema = hfcount.Report.model_json_schema()
    parts = schema.get("$defs", {})
    whole = parts.pop("Report", schema)
    return "\n\n".join(_object(name, one) for name, one in [("Report", whole), *sorted(parts.items())])


def _object(name: str, schema: dict[str, Any]) -> str:
    said = "\n\n".join(" ".join(part.split()) for part in schema.get("description", "").split("\n\n"))
    rows = [f"| `{key}` | {_type(one)} |" for key, one in schema["properties"].items()]
    return "\n".join([f"### {name}", "", said, "", "| field | is |", "|---|---|", *rows])


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{json.dumps(one)}`" for one in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        inner = schema.get("items") or {}
        return f"list of {_type(inner)}" if inner else "list"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"object, by name: {_type(inner)}" if isinstance(inner, dict) else "object"
    return str(schema.get("type", "any value"))


# The findings


def _rules() -> str:
    rows = [
        f"| [{rule.code}](#{rule.code.lower()}) | {rule.name} | {rule.level} | {rule.what} |" for rule in RULES.values()
    ]
    return "\n".join(["| code | name | severity | when |", "|---|---|---|---|", *rows])


def _findings() -> str:
    return "\n\n".join([_finding(rule) for rule in RULES.values()])


def _finding(rule: type[Finding]) -> str:
    level = f"{rule.level}, informational" if rule.informational else rule.level
    anchor = f'<a id="{rule.code.lower()}"></a>'  # its address, which is printed with a finding, holds no name
    lines = [anchor, f"## {rule.code} {rule.name}", f"**What** ({level}): {rule.what}", f"**Why**: {rule.why}"]
    if rule.variants:
        rows = [f"- `{name}`: {what}" for name, what in rule.variants.items()]
        lines += ["**Variants**, which the JSON names:", "\n".join(rows)]
    lines += [*_example(rule.code), f"**Fix**: {rule.remedy}"]
    return "\n\n".join(lines)


def _example(code: str) -> Iterator[str]:
    """A defect, and what hfcount says of it; or a command whose answer it is."""
    if code in _ASKED:
        shown = json.loads(_run("--format", "json", *_ASKED[code]))["findings"]
        yield f"**Example**: `hfcount {' '.join(_ASKED[code])}`."
    else:
        name = _SHOWN.get(code) or next(one for one, case in _CASES.items() if code in case.codes.split())
        shown = json.loads(_defective(name).to_json())["findings"]
        yield f"**Example**: {name}."
    for finding in shown:
        if finding["code"] == code:
            said = re.sub(r"(`[^`]*`)|([*_<>|~])", lambda sign: sign[1] or f"\\{sign[2]}", finding["message"])
            yield f"> {said}"


def _defective(name: str) -> hfcount.Report:
    """What is found of a defect in a folder called my-model."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        valued, drafted = VALUED.get(name), DRAFTED.get(name)
        other = valued or drafted
        other.write(Path(folder) / "my-model") if other else write(name, Path(folder) / "my-model")
        os.chdir(folder)
        try:
            target = "./target.json" if drafted else None
            return hfcount.verify("./my-model", depth="data" if valued else "auto", target=target)
        finally:
            os.chdir(here)


_CASES: Mapping[str, Case | Drafted | Valued] = {**CASES, **DRAFTED, **VALUED}

_ASKED = {
    "HF601": ("--fixtures", "fixtures", "Qwen/Qwen3-32B", "--tp", "6"),
    "HF602": ("--fixtures", "fixtures", "Qwen/Qwen3-32B", "--memory", "24GiB"),
}
"""The command that a finding answers, where it is found only if it is asked for."""

_SHOWN = {
    "HF201": "the last layer is missing",
    "HF206": "a tensor in two files",
    "HF301": "rows of the vocabulary",
    "HF302": "norms in float32",
    "HF401": "total_size is stale",
    "HF503": "FP8 in blocks, and a scale is lost",
}
"""The defect that shows a finding best, where it is not the first that has it."""


# The architectures


def _families() -> str:
    kinds = Counter(one["kind"] for one in json.loads(FILE.read_text()).values())
    rows = [f"| {kind} | {kinds[kind]} |" for kind in KINDS if kinds[kind]]
    count = f"{sum(kinds.values())} values of `model_type` in {sum(1 for _ in families.everyone())} families"
    return "\n".join([f"{count}:\n", "| kind | types |", "|---|--:|", *rows])


def _architectures() -> str:
    """--families, as sections."""
    text = _run("--families").partition("\n")[2]
    text = re.sub(r"^(\S.*) \(([\d,]+)\)$", r"## \1\n", text, flags=re.MULTILINE)
    return re.sub(r"^  (.*?): (.*)$", _entry, text, flags=re.MULTILINE).strip()


def _entry(line: re.Match[str]) -> str:
    types = ", ".join(f"`{one}`" for one in line[1].split(", "))
    return f"- {types}: {re.sub(r'([*_<>|])', _escaped, line[2])}"


def _escaped(sign: re.Match[str]) -> str:
    return f"\\{sign[1]}"


# Rough against exact


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


# What was met in public


def _incidents() -> str:
    """A table for each kind of fault."""
    head = ["| what was wrong | thread | command | finding |", "|---|---|---|---|"]
    parts = ["\n".join([f"## {title}", "", *head, *map(_incident, rows)]) for title, rows in INCIDENTS.items()]
    return "\n\n".join(parts)


def _incident(row: Incident) -> str:
    finding = f"[{row.code} {RULES[row.code].name}](findings.md#{row.code.lower()})"
    return f"| {_cell(row.wrong)} | [{row.thread}]({row.url}) | `{row.command}` | {finding} |"


# The map of the rooms


def _rooms() -> str:
    """A row a room, from the command line down to the formats, as the contract of imports orders them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = ["| if you work on | it is in | which |", "|---|---|---|"]
    for name in (name for row in contracts[0]["layers"] for name in row.split(" | ")):
        if (file := ROOT / "hfcount" / name / "__init__.py").exists():
            lines = (ast.get_docstring(ast.parse(file.read_text())) or "").split("\n")
            (work,) = (line.removeprefix("Work here on ") for line in lines if line.startswith("Work here on "))
            rows.append(f"| {work.rstrip('.')} | [{name}/](../hfcount/{name}) | {_cell(lines[0].rstrip('.'))} |")
    return "\n".join(rows)


# What the Hub counts


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

BLOCKS = {
    "architectures": _architectures,
    "families": _families,
    "fields": _fields,
    "findings": _findings,
    "help": _help,
    "incidents": _incidents,
    "surfaces": _surfaces,
    "json": _json,
    "pages": _pages,
    "rooms": _rooms,
    "rough": _rough,
    "rules": _rules,
    "stored": _stored,
    "told": _told,
    "tutorials": _tutorials,
}
"""How each named block is made; `console` is made of its own commands."""
