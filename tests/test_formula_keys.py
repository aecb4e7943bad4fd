"""A formula holds for every value: a key is doubled, the printed formula worked out anew, and the count agrees.

The legend says which keys a symbol is made of, so a reader needs nothing but the config. A key is halved where the
config refuses its double (more heads of keys than of queries), or the double makes another model of it: one with other
names, or with experts, norms or layers where there were none. It is left out where that holds of its half, too.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from build import Json

from hfcount.errors import HfcountError
from hfcount.formula.closed_form import Formula
from hfcount.mapper import Config
from hfcount.mapper.whatif import changed
from hfcount.plan import Blueprint, build

RECORDED: dict[str, Json] = {
    path.stem: json.loads(path.read_text())["config"]
    for path in sorted((Path(__file__).parent.parent / "fixtures" / "architectures").glob("*.json"))
}

KEY = re.compile(r"[A-Za-z_][\w.]*")
ARITHMETIC = re.compile(r"[\w.]+|[()]| [·+/-] ")
LAYERS = re.compile(r"(all layers|layers? \d.*)")


def _value(config: Mapping[str, Any], key: str) -> int | float:
    """What the config has under a dotted key; of names their number, of equal sides one."""
    found: Any = config
    for name in key.split("."):
        found = found[name]
    if isinstance(found, list) and len(set(found)) == 1:
        return found[0]
    return len(found) if isinstance(found, dict) else found


def _evaluated(source: str, config: Mapping[str, Any]) -> int:
    """Arithmetic over keys as a reader does it: quotients and the whole are rounded down."""
    text = KEY.sub(lambda key: repr(_value(config, key[0])), source)
    return int(eval(text.replace("·", "*").replace("/", "//"), {}))


def _printed(text: str, legend: Mapping[str, int]) -> int:
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    for symbol in sorted(legend, key=len, reverse=True):
        text = re.sub(rf"(?<![\w|]){re.escape(symbol)}(?![\w|])", str(legend[symbol]), text)
    return int(eval(text.replace("·", "*") or "0", {}))


def _sizes(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, int]]:
    """Every whole number of a config, by its dotted key."""
    for name, value in values.items():
        if type(value) is int and value > 0:
            yield f"{path}{name}", value
        elif isinstance(value, dict):
            yield from _sizes(value, f"{path}{name}.")


def _outline(blueprint: Blueprint) -> list[object]:
    return [
        (leaf.kind, leaf.component, *(part if isinstance(part, str) else None for part in leaf.segments))
        for leaf in blueprint.leaves
    ]


def _legend(formula: Formula, config: Json, now: Formula) -> dict[str, int]:
    """The value of each symbol in a changed config; how many layers are of a kind is counted."""
    found = {}
    for symbol, source in formula.keys.items():
        source, _, remark = source.partition(", ")
        if LAYERS.fullmatch(source):
            found[symbol] = now.legend[symbol]
        elif remark or _in_list(source, config):
            found[symbol] = formula.legend[symbol]
        else:
            found[symbol] = _evaluated(source, config)
    return found


def _in_list(source: str, config: Json) -> bool:
    return bool(KEY.fullmatch(source)) and isinstance(_value(config, source), list)


@pytest.mark.parametrize("values", RECORDED.values(), ids=RECORDED)
def test_the_source_of_every_symbol_is_arithmetic_over_the_config(values: Json) -> None:
    formula = build(Config(values)).formula()
    for symbol, source in formula.keys.items():
        text, _, remark = source.partition(", ")
        if LAYERS.fullmatch(source):
            continue
        assert remark in ("", "by default", "fixed"), symbol
        assert ARITHMETIC.sub("", text) == "", symbol
        if not (remark or _in_list(text, values)):
            assert _evaluated(text, values) == formula.legend[symbol], f"{symbol} is from {source}"


@pytest.mark.parametrize("values", RECORDED.values(), ids=RECORDED)
def test_the_formula_holds_with_any_key_doubled(values: Json) -> None:
    config = Config(values)
    blueprint = build(config)
    formula, read, outline = blueprint.formula(), set(config.read_keys()), _outline(blueprint)
    compared, sizes = 0, {key: value for key, value in _sizes(values) if key in read}
    for key, value in sizes.items():
        for size in (2 * value, value // 2):
            new = changed(values, {key: size})
            try:
                other = build(Config(new))
            except HfcountError:
                continue
            if not other.problems and _outline(other) == outline:
                break
        else:
            continue
        legend = _legend(formula, new, other.formula())
        moved = {symbol: source for symbol, source in formula.keys.items() if legend[symbol] != formula.legend[symbol]}
        for counted, terms in ((other.total, formula.total), (other.active, formula.active)):
            said = _printed(formula.text(terms), legend)
            assert said == counted, f"{key} is {size:,}: {counted:,} are counted, {said:,} said; changed: {moved}"
        compared += 1
    assert compared >= min(3, len(sizes))
