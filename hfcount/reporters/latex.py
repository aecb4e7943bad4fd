"""A formula as LaTeX, which GitHub shows between dollar signs."""

import re

_NUMBER, _BARS, _SYMBOL = r"(?P<number>\d[\d,]*)", r"\|(?P<bars>\w+)\|", r"(?P<letter>[A-Za-z])(?P<index>_[A-Za-z]+)?"
_TOKEN = re.compile(rf"{_NUMBER}|{_BARS}|{_SYMBOL}(?P<rival>\d*)|·")


def latex(text: str) -> str:
    """A formula such as `2·N·h_kv`; its bars become commands, since a bar would end a table's cell."""
    return _TOKEN.sub(_written, text)


def _written(token: re.Match[str]) -> str:
    if token["number"]:
        return token["number"].replace(",", "{,}")
    if token["bars"]:
        return rf"\lvert {token['bars']} \rvert"
    if not token["letter"]:
        return r" \cdot "
    parts = [part for part in ((token["index"] or "")[1:], token["rival"]) if part]
    index = ",".join(rf"\mathrm{{{part}}}" if len(part) > 1 and part.isalpha() else part for part in parts)
    return f"{token['letter']}_{{{index}}}" if index else token["letter"]
