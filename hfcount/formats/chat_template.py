"""Chat templates (Jinja) as text: whether their blocks are closed, and what follows a message. Nothing is run.

Source: jinja2 3.1, lexer.py and parser.py, with the tags that transformers 5.23 adds (utils/chat_template_utils.py).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

_OPEN = re.compile(r"\{([{%#])")
_RAW = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_CLOSE = r"[-+]?%\}|[-+]?\}\}"
_INSIDE = re.compile(rf"{_STRING.pattern}|{_CLOSE}|[\[({{]|[\])}}]|['\"]|[^-+%\[\](){{}}'\"]+|.", re.DOTALL)
_TAG = re.compile(r"[-+]?\s*(\w+)")
_CLOSED = ("for", "if", "macro", "call", "filter", "with", "autoescape", "block", "generation")
_ALONE = ("else", "elif", "set", "print", "break", "continue", "include", "import", "from", "extends")
_BLOCK_SET = re.compile(r"[-+]?\s*set\s+[\w.]+\s*(\|.*)?", re.DOTALL)
_KEY = re.compile(r"\[\s*(['\"])content\1\s*\]")
_WORD = re.compile(rf"{_STRING.pattern}|\w+|[\[({{]|[\])}}]|\S", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_NEAR = 200  # parts behind a message of which the next text is looked for


class TemplateError(Exception):
    """A template that jinja2 does not parse; the message says why."""


class Piece(NamedTuple):
    """A piece of a template: text, or what stands in `{{ }}` or `{% %}`."""

    kind: Literal["text", "output", "tag"]
    content: str


def pieces(template: str) -> list[Piece]:
    """The pieces of a template, without remarks.

    Raises:
        TemplateError: one is not closed, or a tag is unknown or not where it may be.
    """
    found, place = list[Piece](), 0
    while match := _OPEN.search(template, place):
        found.append(Piece("text", template[place : match.start()]))
        if match[1] == "#":
            end = template.find("#}", match.end())
            if end < 0:
                raise TemplateError("a remark, {#, is not closed")
            place = end + 2
            continue
        content, place = _inside(template, match.end(), "%}" if match[1] == "%" else "}}")
        if match[1] == "%" and _name(content) == "raw":
            if not (close := _RAW.search(template, place)):
                raise TemplateError("{% raw %} is not closed")
            found.append(Piece("text", template[place : close.start()]))
            place = close.end()
        else:
            found.append(Piece("tag" if match[1] == "%" else "output", content))
    found.append(Piece("text", template[place:]))
    _check_blocks(found)
    return found


def _inside(template: str, start: int, closing: str) -> tuple[str, int]:
    """What stands up to the closing mark, outside of strings and brackets, and where it goes on."""
    depth = list[str]()
    for match in _INSIDE.finditer(template, start):
        part = match[0]
        if part.endswith(closing) and not depth:
            return template[start : match.start()], match.end()
        if part in ("'", '"'):
            break
        if part in _BRACKETS:
            depth.append(_BRACKETS[part])
        elif part[-2:] in ("}}", "%}") and len(part) <= 3:
            if depth[-1:] == ["}"] and part == "}}":  # of objects in each other
                depth = depth[:-2] if depth[-2:] == ["}", "}"] else depth[:-1]
                continue
            break
        elif part in (")", "]", "}"):
            if depth[-1:] != [part]:
                break
            depth.pop()
    mark = "{{" if closing == "}}" else "{%"
    raise TemplateError(f"what begins with {mark} is not closed")


_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def _name(tag: str) -> str:
    match = _TAG.match(tag)
    return match[1] if match else ""


def _opens(tag: str) -> bool:
    """Whether a tag begins what another one ends."""
    return _name(tag) in _CLOSED or (_name(tag) == "set" and _BLOCK_SET.fullmatch(tag) is not None)


def _check_blocks(found: Sequence[Piece]) -> None:
    """Raises TemplateError where a block is not closed, or another one is."""
    stack = list[str]()
    for tag in (piece.content for piece in found if piece.kind == "tag"):
        name = _name(tag)
        if _opens(tag):
            stack.append(name)
        elif name.startswith("end"):
            if not stack or stack.pop() != name[3:]:
                raise TemplateError(f"{{% {name} %}} closes nothing that is open there")
        elif name in ("else", "elif"):
            if not stack or stack[-1] not in ("if", "for"):
                raise TemplateError(f"{{% {name} %}} stands in no condition")
        elif name not in _ALONE:
            raise TemplateError(f"{{% {name} %}} is no tag")
    if stack:
        raise TemplateError(f"{{% {stack[-1]} %}} is not closed")


def text_after_messages(template: str) -> Iterator[str]:
    """The texts that stand right after the content of a message; EOS for the variable `eos_token`.

    What an `else` has is passed over, and nothing is said of a content that a further condition or loop follows.

    Raises:
        TemplateError: as `pieces`.
    """
    parts = [*_events(pieces(template))]
    for place, (kind, _) in enumerate(parts):
        if kind == "content" and (text := _next(parts, place + 1)) is not None:
            yield text


EOS = "\0eos_token"


def _next(parts: Sequence[tuple[str, str]], place: int) -> str | None:
    """The text that follows; None where that depends on more than is looked at."""
    passed = 0  # blocks within an `else` that is passed over
    skipping = False
    for kind, text in parts[place : place + _NEAR]:
        if kind == "open":
            if not skipping:
                return None
            passed += 1
        elif kind == "close":
            if skipping and passed:
                passed -= 1
            else:
                skipping = False
        elif kind == "else":
            skipping = True
        elif not skipping and kind == "text":
            if text.strip():
                return text
        elif not skipping:
            return None
    return None


def _events(found: Sequence[Piece]) -> Iterator[tuple[str, str]]:
    """What is written, in order: texts, contents of messages, other values; and where blocks begin and end."""
    for kind, content in found:
        if kind == "text":
            yield "text", content
        elif kind == "output":
            yield from _written(_KEY.sub(".content", content))
        elif _opens(content):
            yield "open", ""
        elif (name := _name(content)).startswith("end"):
            yield "close", ""
        elif name in ("else", "elif"):
            yield "else", ""
        elif name == "set" and _KEY.sub(".content", content).count("content") > 1:
            yield from _written(_KEY.sub(".content", content).partition("=")[2])
            yield "other", ""


def _written(expression: str) -> Iterator[tuple[str, str]]:
    """The parts of a sum of texts: of each operand what it is."""
    depth, operand = 0, list[str]()
    for word in (match[0] for match in _WORD.finditer(expression)):
        if depth == 0 and word in ("+", "~"):
            yield from _operand(operand)
            operand = []
            continue
        depth += (word in "([{") - (word in ")]}") if len(word) == 1 else 0
        operand.append(word)
    yield from _operand(operand)


def _operand(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = [word for word in words if word not in "-"]
    if not words:
        return
    if len(words) == 1 and words[0][0] in "'\"":
        yield "text", re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), words[0][1:-1])
    elif words[0] == "eos_token":
        yield "text", EOS
    elif "content" in words and "if" not in words:
        yield "content", ""
    else:
        yield "other", ""
