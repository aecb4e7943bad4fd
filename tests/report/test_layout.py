"""Text and tables in a terminal's width: words stay whole where they can, and no number is cut."""

import pytest

from hfcount.report.renderers.layout import Bar, Block, Column, Indented, Table, Text, breadth


def _lines(block: Block, width: int) -> list[str]:
    return ["".join(span.text for span in line).rstrip() for line in block.lines(width)]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 13, ["one two three"]),
        ("one two three", 8, ["one two", "three"]),
        ("one two three", 3, ["one", "two", "thr", "ee"]),
        ("a model.layers.0 b", 6, ["a", "model.", "layers", ".0 b"]),
        ("one\n\ntwo three", 5, ["one", "", "two", "three"]),
        ("", 5, [""]),
        ("  indented by two", 11, ["  indented", "by two"]),
        ("中文字符 ab", 6, ["中文字", "符 ab"]),
        ("e\u0301e\u0301e\u0301 x", 3, ["e\u0301e\u0301e\u0301", "x"]),
        ("中文", 1, ["中", "文"]),
    ],
)
def test_text_wraps_between_words_and_within_those_that_are_too_long(text: str, width: int, lines: list[str]) -> None:
    assert _lines(Text(text), width) == lines
    assert "".join(lines).replace(" ", "") == text.replace(" ", "").replace("\n", "")


def test_spans_keep_their_styles_where_a_line_wraps() -> None:
    text = Text.of(("Fix: ", "bold"), "set vocab_size", Text(" to 98", "dim"), style="red")
    lines = [[span.coloured() for span in line if span.text.strip()] for line in text.lines(10)]
    assert lines == [
        ["\x1b[31;1mFix: \x1b[0m", "\x1b[31mset\x1b[0m"],
        ["\x1b[31mvocab_size\x1b[0m"],
        ["\x1b[31;2mto 98\x1b[0m"],
    ]


def test_the_rest_of_a_line_hangs_where_that_is_asked_for() -> None:
    assert _lines(Text("one two three fourteen\nfive", hanging=2), 9) == [
        "one two",
        "  three",
        "  fourtee",
        "  n",
        "five",
    ]
    assert _lines(Indented(Text("one two three", hanging=2), 1), 10) == [" one two", "   three"]


def _table(gap: int = 2) -> Table:
    table = Table([Column("name"), Column("size", "right", wraps=False), Column(), Column("text")], gap=gap)
    table.add("model.embed_tokens", "1,024", "", "the first of all")
    table.add("norm", "8", "", Text("short", "green"))
    return table


def test_columns_align_and_empty_ones_are_left_out() -> None:
    assert _lines(_table(), 80) == [
        "name                 size  text",
        "model.embed_tokens  1,024  the first of all",
        "norm                    8  short",
    ]
    assert _table().widest() == len("model.embed_tokens  1,024  the first of all")


def test_a_table_that_is_too_wide_wraps_text_before_it_cuts_names() -> None:
    assert _lines(_table(), 34) == [
        "name                 size  text",
        "model.embed_tokens  1,024  the",
        "                           first",
        "                           of all",
        "norm                    8  short",
    ]
    narrow = _lines(_table(), 20)
    assert max(map(len, narrow)) <= 20
    assert sum("1,024" in line for line in narrow) == 1


def test_cells_stand_at_the_bottom_of_their_row_where_that_is_asked_for() -> None:
    table = Table([Column("model"), Column("a\nhead", "right", low=True)])
    table.add("org/\nname", "7")
    assert _lines(table, 80) == ["          a", "model  head", "org/", "name      7"]


@pytest.mark.parametrize(
    ("part", "whole", "text"), [(0, 9, ""), (1, 80, "▏"), (9, 9, "█" * 10), (1, 2, "█" * 5), (3, 16, "█▉"), (0, 0, "")]
)
def test_a_bar_has_eighths_of_a_column(part: int, whole: int, text: str) -> None:
    assert _lines(Bar(part, whole, 10), 80) == [text]


def test_what_is_indented_wraps_in_what_is_left() -> None:
    block = Indented(Text("one two three"), 4)
    assert _lines(block, 12) == ["    one two", "    three"]
    assert block.widest() == 17


@pytest.mark.parametrize(("text", "taken"), [("abc", 3), ("中a", 3), ("e\u0301", 1), ("×▏", 2)])
def test_wide_characters_take_two_columns_and_marks_none(text: str, taken: int) -> None:
    assert breadth(text) == taken
