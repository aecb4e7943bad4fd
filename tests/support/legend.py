"""A reader's arithmetic: what the legend of a formula says of a symbol, evaluated from its text and the config alone.

Nothing of the code under test is used: the grammar is that of ClosedForm in docs/json.md.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from build import Json

NO_ARITHMETIC = ("by its factors", "in primes")
"""Rules that the legend names, whose values it has."""

KEY = r"[A-Za-z_][\w]*(?:\[\d+\]|\.\w+)*"
COUNTED = re.compile(rf"[^\s()]+ in {KEY}(?: with [^\s()]+ in {KEY})*")
ENTRIES = re.compile(rf"entries of ({KEY})(?: below ({KEY}))?")
CHANNELS = re.compile(r"in channels of (\S+?)(?: from (\S+))?")


class Reader:
    """Values of texts, by a config and the legend's symbols."""

    def __init__(self, config: Json, legend: Mapping[str, int], keys: Mapping[str, str]) -> None:
        self.config, self.legend, self.keys = config, legend, keys
        names = "|".join(map(re.escape, sorted(legend, key=len, reverse=True)))
        self.symbols = re.compile(rf"(?<![\w|])(?:{names})(?![\w|])")
        self.values = {name: self.sourced(name) for name in keys}

    def sourced(self, name: str) -> int:
        """What the legend says of a symbol, evaluated."""
        text, *rules = self.keys[name].split(", ")
        if re.fullmatch(r"(layers? \S+( step \d+)?|layers? .* in all\))( of the .+)?", text.rstrip()):
            return layers(text)
        if text == "all layers" or rules in (["by default"], [NO_ARITHMETIC[0]], [NO_ARITHMETIC[1]]):
            return self.legend[name]
        if rules == ["fixed"]:
            return int(text)
        value = self.text(text, exact=bool(rules))
        for rule in rules:
            value = self.ruled(value, rule)
        return int(value)

    def ruled(self, value: float, rule: str) -> float:
        """A number by a rule: the words that follow a comma."""
        if rule in ("rounded", "rounded up", "rounded down"):
            return {"rounded": round, "rounded up": math.ceil, "rounded down": math.floor}[rule](value)
        if rule == "as a power of 2":
            return int(math.log2(max(1, value)))
        if match := CHANNELS.fullmatch(rule):
            step, least = (None if part is None else self.text(part) for part in match.groups())
            near = max(step if least is None else least, int(value + step / 2) // step * step)
            return near + step if near < 0.9 * value else near
        verb, _, limit = rule.rpartition(" ")
        step = self.text(limit)
        made = {"at least": max(value, step), "at most": min(value, step)}
        made |= {"rounded to": round(value / step) * step, "rounded up to": math.ceil(value / step) * step}
        return made[verb]

    def text(self, text: str, exact: bool = False) -> float:
        """Arithmetic; quotients and products with fractions are rounded down, unless `exact`."""
        tokens = iter([*self.tokens(text), "end"])
        self.token = next(tokens)

        def following() -> object:
            token, self.token = self.token, next(tokens, "end")
            return token

        def factor() -> float:
            token = following()
            if token == "-":
                return -factor()
            if token == "(":
                value = sum_()
                assert following() == ")"
                return value
            assert isinstance(token, int | float), (text, token)
            return token

        def product() -> float:
            value = factor()
            while self.token in ("·", "/"):
                if following() == "·":
                    value = value * factor()
                else:
                    divisor = factor()
                    value = value / divisor if exact else int(value // divisor)
            return value if exact else int(value)

        def sum_() -> float:
            value = product()
            while self.token in ("+", "-"):
                value = value + product() if following() == "+" else value - product()
            return value

        value = sum_()
        assert self.token == "end", (text, self.token)
        return value

    def tokens(self, text: str) -> Iterator[object]:
        """Numbers, signs and parentheses: all else is looked up."""
        place = 0
        while place < len(text):
            if text[place] == " ":
                place += 1
            elif text[place] in "()+-·/" and not (COUNTED.match(text, place) or self.symbols.match(text, place)):
                yield text[place]
                place += 1
            else:
                match, value = self.looked_up(text, place)
                yield value
                place = match.end()

    def looked_up(self, text: str, place: int) -> tuple[re.Match[str], float]:
        if match := ENTRIES.match(text, place):
            listed, limit = self.key(match[1]), match[2] and self.number(match[2])
            return match, sum(limit is None or one < limit for one in listed)
        if match := COUNTED.match(text, place):
            pairs = [one.split(" in ") for one in match[0].split(" with ")]
            columns = zip(*(self.key(key) for _, key in pairs), strict=True)
            return match, sum([*map(str, column)] == [kind for kind, _ in pairs] for column in columns)
        if match := re.compile(r"π").match(text, place):
            return match, math.pi
        if match := re.compile(r"\d[\d,]*(\.\d+)?").match(text, place):
            number = match[0].replace(",", "")
            return match, float(number) if "." in number else int(number)
        symbol, key = self.symbols.match(text, place), re.compile(KEY).match(text, place)
        if symbol and not (key and key.end() > symbol.end()):
            try:
                self.key(symbol[0])
            except (KeyError, TypeError):
                return symbol, self.sourced(symbol[0])
            return symbol, self.number(symbol[0])
        assert key, text[place:]
        return key, self.number(key[0])

    def number(self, key: str) -> float:
        """A key's number: true is 1; an object, or a list of texts, the number of its entries; equal entries one."""
        value = self.key(key)
        if isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], str)):
            return len(value)
        if isinstance(value, list):
            assert len(set(value)) == 1, key
            return value[0]
        return value

    def key(self, key: str) -> Any:
        value: Any = self.config
        parts = re.findall(r"\w+|\[\d+\]", key)
        for part in parts:
            value = value[int(part[1:-1])] if part[0] == "[" else value[part]
        return value

    def formula(self, text: str) -> int:
        """A printed formula, with the legend's symbols."""
        plain = self.symbols.sub(lambda match: str(self.values[match[0]]), text)
        return int(eval(re.sub(r"(?<=\d),(?=\d{3})", "", plain).replace("·", "*") or "0", {}))


def layers(text: str) -> int:
    """How many layers are named: `layers 0-2,5`, `layers 4-28 step 8`."""
    if match := re.search(r"\((\d[\d,]*) in all\)", text):
        return int(match[1].replace(",", ""))
    spans = re.match(r"layers? ([\d,-]+)(?: step (\d+))?", text)
    assert spans, text
    ends = [[int(end) for end in span.split("-")] for span in spans[1].split(",")]
    return sum((span[-1] - span[0]) // int(spans[2] or 1) + 1 for span in ends)
