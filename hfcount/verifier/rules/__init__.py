"""The rules for checkpoints, one file each: when a finding is reported, why that happens, what to do, its message.

A file is named after the code and the name of its rule, such as `hf201_missing_tensor.py`, so that one is found without
the others, and a sound checkpoint imports none. The first digit of a code is the stage: 0 documents, 1 config, 2 names,
3 shapes and dtypes, 4 totals, 5 storage, 6 serving.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from hfcount.verifier.finding import Finding


@cache
def _files() -> Mapping[str, str]:
    """The file of each code, in the order of codes."""
    return {name[:5].upper(): name for name in sorted(path.stem for path in Path(__file__).parent.glob("hf*_*.py"))}


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
    """The rule of that code or name."""
    name = code_or_name.lower()
    return next(
        (RULES[code] for code, file in _files().items() if name in (file[:5], file[6:].replace("_", "-"))), None
    )
