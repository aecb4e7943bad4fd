"""Checks whether the parts of a pipeline fit each other, by the sizes in their configs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from hfcount.checkpoints.pipeline.schedulers import needed_of_scheduler
from hfcount.checkpoints.pipeline.signatures import scales
from hfcount.checkpoints.pipeline.size_rules import RULES, SHIFTED, Rule
from hfcount.formats.model_index import Entry
from hfcount.mapper.class_defaults import declared
from hfcount.text import shown
from hfcount.verifier.rules.hf814_parts_do_not_fit import PartsDoNotFit

_KEY = re.compile(r"[a-z]\w*\.[\w.|]+")
_INDEX = "pipeline"

Size = int | tuple[Any, ...]


class _Value(NamedTuple):
    """A config value, and its key with the part."""

    key: str
    value: Any


class Configs:
    """The configs of a pipeline's parts, with what absent keys mean to the classes."""

    def __init__(self, entries: Sequence[Entry], configs: Mapping[str, Mapping[str, Any]]) -> None:
        self._kinds = {entry.name: entry.kind for entry in entries}
        self._configs = configs

    def holds(self, condition: str) -> bool:
        """Whether a condition of a rule is met; an empty one always is."""
        wanted, name = (False, condition[4:]) if condition.startswith("not ") else (True, condition)
        if not name:
            return True
        if "." not in name:
            return (name in self._kinds) is wanted
        setting = self.value(name)
        return bool(setting and setting.value) is wanted

    def value(self, keys: str) -> _Value | None:
        """The first of the keys of a part that is not null, those first that are written; None where none is."""
        part, _, names = keys.partition(".")
        if part not in self._configs:
            return None
        for written in (True, False):
            for name in names.split("|"):
                value: Any = self._configs[part]
                for step in name.split("."):
                    value = self._of(part, value, step, written)
                if value is not None:
                    return _Value(f"{part}.{name}", value)
        return None

    def written(self, part: str, key: str, absent: Any) -> Any:
        """The value of a key as its config has it; `absent` where it does not."""
        return self._configs.get(part, {}).get(key, absent)

    def _of(self, part: str, values: Any, key: str, written: bool) -> Any:
        if not isinstance(values, Mapping):
            return None
        if key in values or part == _INDEX or written:
            return values.get(key)
        kind = values.get("model_type") or self._kinds.get(part, "")
        return declared(kind).keys.get(key) if isinstance(kind, str) else None


def misfits(
    kind: str, entries: Sequence[Entry], configs: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]
) -> Iterator[PartsDoNotFit]:
    """HF814: every rule for the class of the pipeline that its parts break.

    Args:
        configs: of the parts whose configs could be read, by name; settings: what else model_index.json says.
    """
    known = Configs(entries, {**configs, _INDEX: settings})
    for rule in RULES:
        if re.fullmatch(rule.pipelines, kind) and known.holds(rule.when) and (misfit := _broken(kind, rule, known)):
            yield misfit
    yield from _unshifted(kind, known)
    yield from _scheduled(kind, entries)


def _broken(kind: str, rule: Rule, configs: Configs) -> PartsDoNotFit | None:
    left, _, right = rule.rule.partition(" = ")
    observed = configs.value(left)
    sums = [_sum(text, configs) for text in right.split(" or ")]
    if observed is None or _size(observed.value) is None or None in sums:
        return None
    expected = [total for total in sums if total is not None]
    if any(_same(observed.value, total.value) for total in expected):
        return None
    used = {size.key: size.value for total in expected for size in total.used if size.key != observed.key}
    sizes = ", ".join(f"{key} is {shown(value)}" for key, value in used.items())
    needed = " or ".join(total.text for total in expected)
    result = " or ".join(shown(total.value) for total in expected if total.text not in used)
    part, _, key = observed.key.partition(".")
    return PartsDoNotFit(
        statement=(
            f"{observed.key} is {shown(observed.value)}{f', and {sizes}' if sizes else ''}:"
            f" {kind} needs {observed.key} = {needed}"
            f"{f', which is {result}' if result and sizes else ''}."
        ),
        source=f"diffusers 0.42.1, pipelines/{rule.source}",
        file=f"{part}/config.json",
        key=key,
        expected=_frozen(expected[0].value),
        observed=_frozen(observed.value),
        fix=_fix(observed, expected, used),
    )


class _Sum(NamedTuple):
    """The required value of a key, its formula, and the values in it."""

    value: Any
    text: str
    used: Sequence[_Value]


def _sum(text: str, configs: Configs) -> _Sum | None:
    """The value of `2 * part.key + 1`; None where a key of it has none."""
    used: list[_Value] = []
    total: Any = 0
    for term in text.split(" + "):
        factors = [_factor(factor, configs, used) for factor in term.split(" * ")]
        if None in factors:
            return None
        if len(factors) == 1 and not isinstance(factors[0], int):
            total = factors[0]
        elif all(isinstance(factor, int) for factor in factors):
            total += prod(factors)
        else:
            return None
    keys = iter(used)
    return _Sum(total, _KEY.sub(lambda _: next(keys).key, text), used)


def _factor(text: str, configs: Configs, used: list[_Value]) -> Any:
    if text.isdigit():
        return int(text)
    made, _, key = text.removesuffix(")").rpartition("(")
    value = configs.value(key)
    if value is None or _size(value.value) is None:
        return None
    used.append(value)
    if not made:
        return value.value
    if not isinstance(value.value, list):
        return None
    return sum(value.value) if made == "sum" else 4 ** (len(value.value) - 1)  # a level after the first halves sides


def _size(value: Any) -> Size | None:
    """A size, or a list of sizes; None for anything else."""
    if type(value) is int:
        return value
    return tuple(value) if isinstance(value, list) and value and all(type(entry) is int for entry in value) else None


def _same(first: Any, second: Any) -> bool:
    """Whether two sizes are the same; a list is the same as a number that all of it are."""
    if isinstance(first, list) != isinstance(second, list):
        several, single = (first, second) if isinstance(first, list) else (second, first)
        return all(value == single for value in several)
    return bool(first == second)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _fix(observed: _Value, expected: Sequence[_Sum], used: Mapping[str, Any]) -> str:
    part, _, key = observed.key.partition(".")
    ways = [f"a {part} whose {key} is {' or '.join(dict.fromkeys(shown(total.value) for total in expected))}"]
    if len(used) == 1:
        (other,) = used
        name, _, inner = other.partition(".")
        if expected[0].text == other:
            ways.append(f"a {name} whose {inner} is {shown(observed.value)}")
    return f"Use {', or '.join(ways)}."


def _unshifted(kind: str, configs: Configs) -> Iterator[PartsDoNotFit]:
    """A VAE without a number to shift or to scale by, where the pipeline does."""
    pattern, source = SHIFTED
    rows: list[tuple[str, str, str, int | None]] = []
    rows += [("shift_factor", "it subtracts", f"pipelines/{source}", None)] if re.fullmatch(pattern, kind) else []
    if scales(kind):
        rows.append(("scaling_factor", "it divides by", f"source of {kind}", 1))
    for key, use, where, absent in rows:
        setting = configs.value(f"vae.{key}")
        value = setting.value if setting else configs.written("vae", key, absent)
        if configs.value("vae.latent_channels|z_dim") and (isinstance(value, str | list | dict) or value is None):
            yield PartsDoNotFit(
                statement=f"vae.{key} is {shown(value)}, but {kind} needs a number, which {use} when it decodes.",
                source=f"diffusers 0.42.1, {where}",
                file="vae/config.json",
                key=key,
                fix=f"Use the vae that belongs to this pipeline, or set its {key}.",
            )


def _scheduled(kind: str, entries: Sequence[Entry]) -> Iterator[PartsDoNotFit]:
    """A scheduler that lacks what the pipeline asks of it."""
    scheduler = next((entry.kind for entry in entries if entry.name == "scheduler"), "")
    if lacks := needed_of_scheduler(kind, scheduler):
        yield PartsDoNotFit(
            statement=f"scheduler is a {scheduler}, but {kind} {lacks}.",
            source=f"diffusers 0.42.1, source of {kind}",
            file="model_index.json",
            key="scheduler",
            fix="Use a scheduler of the kind that the pipeline was trained with.",
        )
