"""Translates functions of C++, as far as llama.cpp loads models with them, to nested lists that JSON can hold.

Expressions are numbers, true, false, null, names (texts), or lists: `["s", text]` is a text, `[".", object, name]` a
member, `["[]", object, index]` an element, `["()", function, argument, ...]` a call, `["?", a, b, c]` a choice,
`["{}", value, ...]` a list, `["fn", parameters, body]` a function, and `[operator, operand, ...]` anything else. Casts
are left out.

Statements are lists: `["let", name, type, value]`, `["=", target, value]`, `["if", condition, body, else]`,
`["for", first, condition, step, body]`, `["each", name, values, body]`, `["switch", value, [[values, body], ...]]` (the
default has null for values), `["try", body, body]`, `["throw", text, line]`, `["abort", text, line]`,
`["return", value]`, `["do", value]`, `["break"]` and `["continue"]`. A name that hides another of the same function is
followed by a number.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

Node = Any
"""An expression or a statement."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<number>0[xX][0-9a-fA-F]+|"""
    r"""\d+\.?\d*(?:[eE][-+]?\d+)?[uUlLfF]*)|(?P<name>[A-Za-z_]\w*(?:::[A-Za-z_~]\w*)*)|"""
    r"""(?P<sign>->|\+\+|--|<<=|>>=|&&|\|\||[-+*/%|&^<>=!]=|<<|>>|.)""",
    re.S | re.X,
)
_BINARY = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"))
_LEVELS = (*_BINARY, ("*", "/", "%"))
_ASSIGNED = ("=", "+=", "-=", "*=", "/=", "|=", "&=", "%=")
_TYPES = re.compile(
    r"(?:unsigned|int|u?int\d+_t|size_t|float|double|bool|char|void|auto|long|llama_token|ggml_tensor|struct|enum"
    r"|llm_\w+|std::(?:string|vector|array|stringstream|unordered_set|set)|ggml_type|llama_\w+_type)$"
)
_NO_TYPES = ("return", "throw", "else", "case", "new", "delete", "goto", "break", "continue", "default")
_DROPPED = ("assert", "GGML_UNUSED", "GGML_ASSERT", "GGML_ABORT", "LLAMA_LOG_INFO", "LLAMA_LOG_WARN", "LLAMA_LOG_DEBUG")


class Token(NamedTuple):
    """A token with its kind (`text`, `number`, `name` or `sign`) and its line."""

    kind: str
    text: str
    line: int


class NotTranslated(Exception):
    """A construct that is not known here."""


def tokens(code: str, line: int = 1) -> list[Token]:
    """The tokens of a piece of code that begins in a line."""
    result = []
    for match in _TOKEN.finditer(code):
        if match.lastgroup != "space":
            result.append(Token(match.lastgroup or "", match[0], line))
        line += match[0].count("\n")
    return result


class Function(NamedTuple):
    """A function that was found: its parameters (with defaults) and its body as tokens."""

    name: str
    parameters: list[Token]
    body: list[Token]


def functions(code: str) -> Iterator[Function]:
    """The functions that are defined at the left margin of a file."""
    pattern = re.compile(r"^(?:[\w:<>*&]+ )+?\*?([\w:]+)\(([^;{}]*?)\)(?: const)? \{\n(.*?)^\}", re.M | re.S)
    for match in pattern.finditer(code):
        lines = [code.count("\n", 0, match.start(group)) + 1 for group in (2, 3)]
        yield Function(match[1], tokens(match[2], lines[0]), tokens(match[3], lines[1]))


class Parser:
    """Reads the tokens of one function.

    Args:
        name: gives what a name that is not declared in the function stands for.
        special: gives what a call is translated to, or None: called with the function and its arguments, and the line.
    """

    def __init__(
        self,
        body: Sequence[Token],
        name: Callable[[str], Node],
        special: Callable[[Node, list[Node], int], Node | None],
    ) -> None:
        self.tokens = list(body)
        self.at = 0
        self.outer = name
        self.special = special
        self.scopes: list[dict[str, str]] = [{}]
        self.types: dict[str, str] = {}

    # Tokens

    def peek(self, ahead: int = 0) -> str:
        """The text of a token to come; empty after the last."""
        place = self.at + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        """The kind of a token to come; empty after the last."""
        place = self.at + ahead
        return self.tokens[place].kind if place < len(self.tokens) else ""

    @property
    def line(self) -> int:
        """The line of the token to come."""
        return self.tokens[min(self.at, len(self.tokens) - 1)].line

    def take(self, wanted: str | None = None) -> str:
        """The text of the next token, which has to be the wanted one."""
        text = self.peek()
        if not text or (wanted is not None and text != wanted):
            raise NotTranslated(f"line {self.line}: {wanted} wanted, and not {text}")
        self.at += 1
        return text

    def have(self, text: str) -> bool:
        """Whether the next token is this one, which is then taken."""
        if self.peek() != text:
            return False
        self.at += 1
        return True

    def _skip_angles(self) -> str:
        """The text between angle brackets."""
        begin, depth = self.at, 0
        while True:
            text = self.take()
            depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
            if depth <= 0:
                return "".join(token.text for token in self.tokens[begin + 1 : self.at - 1])

    def _skip_round(self) -> str:
        """The text between round brackets."""
        begin, depth = self.at, 0
        while True:
            text = self.take()
            depth += {"(": 1, ")": -1}.get(text, 0)
            if depth == 0:
                return " ".join(token.text for token in self.tokens[begin + 1 : self.at - 1])

    # Statements

    def all(self) -> list[Node]:
        """All statements."""
        result: list[Node] = []
        while self.at < len(self.tokens):
            result += self.statement()
        return result

    def declare(self, name: str, kind: str) -> str:
        """Declares a name; the name that it has in what is written."""
        unique, number = name, 2
        while any(unique in scope.values() for scope in self.scopes):
            unique, number = f"{name}#{number}", number + 1
        self.scopes[-1][name] = unique
        self.types[unique] = kind
        return unique

    def block(self) -> list[Node]:
        """A statement, or several in braces, with declarations of their own."""
        self.scopes.append({})
        result: list[Node] = []
        if self.have("{"):
            while not self.have("}"):
                result += self.statement()
        else:
            result = self.statement()
        self.scopes.pop()
        return result

    def statement(self) -> list[Node]:
        """What one statement becomes: nothing, or one or more."""
        word, line = self.peek(), self.line
        match word:
            case ";":
                self.take()
                return []
            case "{":
                return self.block()
            case "if":
                self.take()
                self.have("constexpr")
                self.take("(")
                self.scopes.append({})
                first = self._declaration() if self._declares() else []
                condition = first[-1][1] if first and not self.have(";") else self.expression()
                self.take(")")
                body = self.block()
                other = self.block() if self.have("else") else []
                self.scopes.pop()
                return [*first, ["if", condition, body, other]]
            case "for":
                return [self._for()]
            case "switch":
                return [self._switch()]
            case "try":
                self.take()
                body = self.block()
                self.take("catch")
                self._skip_round()
                return [["try", body, self.block()]]
            case "throw":
                self.take()
                value = self.expression()
                self.take(";")
                return [["throw", value[2] if isinstance(value, list) and value[0] == "()" else value, line]]
            case "return":
                self.take()
                value = None if self.peek() == ";" else self.expression()
                self.take(";")
                return [["return", value]]
            case "break" | "continue":
                self.take()
                self.take(";")
                return [[word]]
        if word in _DROPPED:
            return self._dropped()
        if self._declares():
            result = self._declaration()
            self.take(";")
            return result
        result = self._simple()
        self.take(";")
        return result

    def _dropped(self) -> list[Node]:
        word, line = self.take(), self.line
        begin = self.at
        if word == "GGML_ASSERT":
            self.take("(")
            condition = self.expression()
            self.take(")")
            text = " ".join(token.text for token in self.tokens[begin + 1 : self.at - 1])
            self.have(";")
            return [["if", ["!", condition], [["abort", text, line]], []]]
        text = self._skip_round()
        self.have(";")
        return [["abort", text, line]] if word == "GGML_ABORT" else []

    def _declares(self) -> bool:
        """Whether a declaration is to come: two names one after another, a template or a star between them."""
        begin = self.at
        try:
            while self.peek() in ("const", "static", "constexpr", "struct", "enum"):
                self.take()
            if self.kind() != "name" or self.peek() in _NO_TYPES:
                return False
            first = self.take()
            if self.peek() == "<" and first.startswith("std::"):
                self._skip_angles()
            while self.peek() in ("*", "&", "const"):
                self.take()
            second = self.kind() == "name" and "::" not in self.peek()
            after = self.peek(1)
            return second and (after in ("=", ";", "{", "[", ",") or (after == "(" and bool(_TYPES.match(first))))
        except NotTranslated:
            return False
        finally:
            self.at = begin

    def _type(self) -> str:
        words = []
        while self.peek() in ("const", "static", "constexpr", "struct", "enum"):
            self.take()
        words.append(self.take())
        if self.peek() == "<":
            words.append(f"<{self._skip_angles()}>")
        while self.peek() in ("*", "&", "const"):
            self.take()
        return "".join(words)

    def _declaration(self) -> list[Node]:
        kind = self._type()
        result: list[Node] = []
        while True:
            name = self.take()
            value: Node = None
            if self.have("=") or self.peek() == "{":
                value = self.expression()
            elif self.have("("):
                value = None if self.peek() == ")" else self.expression()
                self.take(")")
            elif self.have("["):
                self.expression()
                self.take("]")
                if self.have("="):
                    value = self.expression()
            result.append(["let", self.declare(name, kind), kind, value])
            if not self.have(","):
                return result

    def _simple(self) -> list[Node]:
        """An assignment, or a call."""
        if self.peek() in ("++", "--"):
            sign = self.take()
            target = self.expression()
            return [["=", target, [sign[0], target, 1]]]
        target = self.expression()
        sign = self.peek()
        if sign in ("++", "--"):
            self.take()
            return [["=", target, [sign[0], target, 1]]]
        if sign not in _ASSIGNED:
            return [["do", target]]
        self.take()
        value = self.expression()
        return [["=", target, value if sign == "=" else [sign[:-1], target, value]]]

    def _for(self) -> Node:
        self.take("for")
        self.take("(")
        self.scopes.append({})
        if self._is_each():
            kind = self._type()
            self.have("&")
            name = self.take()
            self.take(":")
            values = self.expression()
            self.take(")")
            node = ["each", self.declare(name, kind), values, self.block()]
        else:
            first = self.statement()
            condition = self.expression()
            self.take(";")
            step = self._simple()
            self.take(")")
            node = ["for", first[0] if first else None, condition, step[0], self.block()]
        self.scopes.pop()
        return node

    def _is_each(self) -> bool:
        depth, ahead = 0, 0
        while True:
            text = self.peek(ahead)
            if text in (";", ""):
                return False
            if text == ":" and depth == 0:
                return True
            depth += {"(": 1, ")": -1, "?": 1}.get(text, 0)
            ahead += 1

    def _switch(self) -> Node:
        self.take("switch")
        self.take("(")
        value = self.expression()
        self.take(")")
        self.take("{")
        cases: list[Node] = []
        while not self.have("}"):
            values: list[Node] | None = []
            while self.peek() in ("case", "default"):
                if self.take() == "default":
                    values = None
                else:
                    given = self.expression()
                    if values is not None:
                        values.append(given)
                self.take(":")
            body: list[Node] = []
            self.scopes.append({})
            while self.peek() not in ("case", "default", "}"):
                body += self.statement()
            self.scopes.pop()
            cases.append([values, body])
        return ["switch", value, cases]

    # Expressions

    def expression(self) -> Node:
        """An expression without assignments."""
        condition = self._binary(0)
        if not self.have("?"):
            return condition
        value = self.expression()
        self.take(":")
        return ["?", condition, value, self.expression()]

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self.peek() in _LEVELS[level]:
            sign = self.take()
            left = [sign, left, self._binary(level + 1)]
        return left

    def _unary(self) -> Node:
        text = self.peek()
        if text in ("!", "~"):
            self.take()
            return [text, self._unary()]
        if text in ("*", "&", "+"):
            self.take()
            return self._unary()
        if text == "-":
            self.take()
            value = self._unary()
            return -value if isinstance(value, int | float) else ["-", 0, value]
        if text == "(" and self._casts():
            self._skip_round()
            return self._unary()
        return self._after(self._first())

    def _casts(self) -> bool:
        ahead = 1
        while self.peek(ahead) in ("const", "struct", "enum"):
            ahead += 1
        if not _TYPES.match(self.peek(ahead)) or self.kind(ahead) != "name":
            return False
        ahead += 1
        while self.peek(ahead) in ("*", "&") or _TYPES.match(self.peek(ahead) or "-"):
            ahead += 1
        return self.peek(ahead) == ")"

    def _first(self) -> Node:
        kind, text = self.kind(), self.peek()
        if kind == "number":
            self.take()
            bare = text.lower().rstrip("ul") if text.lower().startswith("0x") else text.lower().rstrip("ulf")
            return int(bare, 0) if re.fullmatch(r"0x[0-9a-f]+|\d+", bare) else float(bare)
        if kind == "text":
            return ["s", self._text()]
        if text == "(":
            self.take()
            value = self.expression()
            self.take(")")
            return value
        if text == "{":
            self.take()
            values = []
            while not self.have("}"):
                values.append(self.expression())
                self.have(",")
            return ["{}", *values]
        if text == "[":
            return self._lambda()
        if kind != "name":
            raise NotTranslated(f"line {self.line}: {text}")
        self.take()
        if text in ("static_cast", "reinterpret_cast"):
            self._skip_angles()
            self.take("(")
            value = self.expression()
            self.take(")")
            return value
        if text in ("true", "false"):
            return text == "true"
        if text in ("nullptr", "NULL"):
            return None
        if text.startswith("std::") and self.peek() == "<":
            self._skip_angles()
        if text in ("float", "int", "int64_t", "uint32_t", "size_t") and self.peek() == "(":
            return self._unary()
        for scope in reversed(self.scopes):
            if text in scope:
                return scope[text]
        return text

    def _text(self) -> str:
        parts = []
        while self.kind() == "text" or self.peek().startswith("PRI"):
            token = self.take()
            parts.append("d" if token.startswith("PRI") else token[1:-1].encode().decode("unicode_escape"))
        return "".join(parts)

    def _lambda(self) -> Node:
        while self.take() != "]":
            pass
        self.scopes.append({})
        names = []
        self.take("(")
        while not self.have(")"):
            kind = self._type()
            names.append(self.declare(self.take(), kind))
            self.have(",")
        while self.peek() != "{":
            self.take()
        body = self.block()
        self.scopes.pop()
        return ["fn", names, body]

    def _after(self, value: Node) -> Node:
        """A value with the calls, members and elements that follow."""
        while True:
            line = self.line
            if (
                isinstance(value, str)
                and not any(value in scope.values() for scope in self.scopes)
                and self.peek() != "("
            ):
                value = self.outer(value)
            if self.have("("):
                arguments = []
                while not self.have(")"):
                    arguments.append(self.expression())
                    self.have(",")
                special = self.special(value, arguments, line)
                value = ["()", value, *arguments] if special is None else special
            elif self.peek() in (".", "->"):
                self.take()
                value = [".", value, self.take()]
            elif self.have("["):
                value = ["[]", value, self.expression()]
                self.take("]")
            else:
                return value
