"""The rules for checkpoints, one file each: when a finding is reported, why that happens, what to do, its message.

A file is named after the code and the name of its rule, such as `hf201_missing_tensor.py`, so that one is found without
the others, and a sound checkpoint imports none. The first digit of a code is the stage: 0 documents, 1 config, 2 names,
3 shapes and dtypes, 4 totals, 5 storage, 6 serving, 7 containers, 8 parts of a repo, 9 values. Most are reported by
a check that looks at more than one of them; those in `standalone/` have a check of their own.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from os import listdir
from pathlib import Path

from hfcount.verifier.finding import Finding

_HERE = Path(__file__).parent
_STANDALONE = _HERE / "standalone"
_NEEDS = re.compile(r"^NEEDS[^={]*= \{([^}]*)\}", re.MULTILINE)


@cache
def _files() -> Mapping[str, str]:
    """The module of each code within this package, in the order of codes."""
    modules = {name: name for name in _in(_HERE)} | {name: f"standalone.{name}" for name in _in(_STANDALONE)}
    return {name[:5].upper(): modules[name] for name in sorted(modules)}


def _in(folder: Path) -> list[str]:
    """The names of the rules in a folder."""
    return sorted(name[:-3] for name in listdir(folder) if name.startswith("hf") and name.endswith(".py"))


@cache
def checks() -> tuple[tuple[str, frozenset[str]], ...]:
    """The modules of rules that have a check of their own, with the evidence that it needs; none is imported."""
    names = _in(_STANDALONE)
    matches = ((name, _NEEDS.search((_STANDALONE / f"{name}.py").read_text(encoding="utf-8"))) for name in names)
    return tuple(
        (f"{__name__}.standalone.{name}", frozenset(re.findall('"([^"]+)"', needs[1])))
        for name, needs in matches
        if needs
    )


class _Rules(Mapping[str, type[Finding]]):
    """The rules by code; a file is imported when its rule is looked up."""

    def __getitem__(self, code: str) -> type[Finding]:
        file = _files()[code]
        name = "".join(word.capitalize() for word in file.split("_")[1:])
        rule: type[Finding] = getattr(import_module(f"{__name__}.{file}"), name)
        return rule

    def __iter__(self) -> Iterator[str]:
        return iter(_files())

    def __len__(self) -> int:
        return len(_files())


RULES: Mapping[str, type[Finding]] = _Rules()


def lookup(code_or_name: str) -> type[Finding] | None:
    """The rule of that code, in full or its number alone, or of that name."""
    name = code_or_name.lower()
    names = {code: file.partition("_")[2].replace("_", "-") for code, file in _files().items()}
    return next((RULES[code] for code, rule_name in names.items() if name in (code.lower(), code[2:], rule_name)), None)
