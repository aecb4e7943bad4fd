"""A formula as LaTeX, which GitHub shows between dollar signs."""

import re

_NUMBER, _BARS = r"(?P<number>\d[\d,]*)", r"\|(?P<bars>\w+)\|"
_SYMBOL = r"(?P<word>[A-Za-z]+)(?P<index>(?:_[A-Za-z\d]*[A-Za-z])*)(?P<rival>\d*)"
_TOKEN = re.compile(rf"{_NUMBER}|{_BARS}|{_SYMBOL}|·")


def latex(text: str) -> str:
    """A formula such as `2·N·h_kv`; its bars become commands, since a bar would end a table's cell."""
    return _TOKEN.sub(_latex_of, text)


def _latex_of(token: re.Match[str]) -> str:
    if token["number"]:
        return token["number"].replace(",", "{,}")
    if token["bars"]:
        return rf"\lvert {token['bars']} \rvert"
    if not token["word"]:
        return r" \cdot "
    word, index = token["word"], [part for part in (*token["index"].split("_")[1:], token["rival"]) if part]
    if len(word) > 1:  # a key; Markdown would take an underscore behind a brace for its own
        return _upright(word + "".join(part[0].upper() + part[1:] for part in index))
    return f"{word}_{{{','.join(map(_upright, index))}}}" if index else word


def _upright(part: str) -> str:
    return rf"\mathrm{{{part}}}" if len(part) > 1 and not part.isdecimal() else part
