"""The report for people: within 80 columns, and never as a carrier of somebody else's markup."""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from build import FAMILIES, TINY, Json, config, index, save
from conftest import shared
from markdown_it import MarkdownIt
from markdown_it.token import Token
from paths import ARCHITECTURES, FIXTURES
from tables import over

import hfcount
from hfcount import Report
from hfcount.blueprints.formula.latex import latex
from hfcount.checkpoints.inspect import Options, failed, inspect
from hfcount.errors import FetchError
from hfcount.fetcher import Request
from hfcount.report.renderers import json as json_report
from hfcount.report.renderers import markdown, table, table_of_models
from hfcount.report.renderers.amounts import binary
from hfcount.report.renderers.columns import folded
from hfcount.report.renderers.comparison import compared
from hfcount.report.renderers.terminal import Terminal, printed
from hfcount.report.renderers.text import inert, origin, outcome, share, tally, verdict
from hfcount.serving.cost import Workload
from hfcount.verifier.policy import Policy
from hfcount.version import PAGES

_MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;https://elsewhere\x07link",
    "\r\x08\x9b2J",
    "line\nbreak\u2028here",
    "\u202eright-to-left\u2066",
    "\ud800",
    "[bold red]markup[/bold red]",
    "a|b`c``d|e",
    "<script>alert(1)</script>&lt;b&gt;",
    "**bold** _it_ [a](https://elsewhere) ![i](x) # ~~s~~ \\",
    "x" * 1000,
    "model.layers." + "7" * 19 + ".very.long.name" * 20,
]


def _report(folder: Path, values: Json, listed: Json | None, **options: Any) -> Report:
    save(folder / "org" / "name", values, listed)
    return inspect(Request("org/name", fixtures=folder), Options(**options))


PLAIN = Terminal(80, colours=False, blocks=True)


def _hostile(folder: Path) -> Report:
    """A checkpoint with every hostile text wherever a checkpoint may have one."""
    listed = index(TINY["llama"])
    listed["weight_map"] |= dict.fromkeys(HOSTILE, "model.safetensors")
    values = config("llama", dtype=HOSTILE[0])  # of a hostile class nothing else is told
    return _report(folder, values | dict.fromkeys(HOSTILE, 1), listed)


def _table(report: Report, colour: bool = False) -> str:
    return printed(PLAIN._replace(colours=colour), table.details(report, full=True))


def _wide(text: str, width: int = 80) -> list[str]:
    return [line for line in text.splitlines() if len(line) > width]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_line_of_the_table_is_longer_than_80_columns(tmp_path: Path, family: str) -> None:
    text = _table(_report(tmp_path, TINY[family], index(TINY[family]), extras=("tensors", "formula")))
    assert _wide(text) == []
    assert "verified" in text.splitlines()[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": 10**9},
        {"num_hidden_layers": 2**62, "hidden_size": 2**32, "vocab_size": 2**32, "intermediate_size": 2**32},
    ],
    ids=["a-billion-layers", "as-large-as-may-be"],
)
def test_no_digit_is_lost_in_80_columns(tmp_path: Path, changes: Json) -> None:
    report = _report(tmp_path, config("llama", **changes), index(TINY["llama"]), extras=("tensors", "formula"))
    text = _table(report)
    assert _wide(text) == []
    assert "…" not in text
    assert report.parameters is not None
    assert f"{report.parameters.total:,}" in re.sub(r"\s+", "", text)


def test_the_table_shows_hostile_names_escaped(tmp_path: Path) -> None:
    text = _table(_hostile(tmp_path))
    assert _wide(text) == []
    assert [line for line in text.split("\n") if not line.isprintable()] == []
    assert "[bold red]markup[/bold red]" in text


def test_the_only_escapes_on_a_terminal_are_our_own(tmp_path: Path) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", _table(_hostile(tmp_path), colour=True))
    assert [line for line in text.split("\n") if not line.isprintable()] == []


@pytest.mark.parametrize("colour", [False, True], ids=["piped", "terminal"])
def test_colours_only_on_a_terminal(tmp_path: Path, colour: bool) -> None:
    report = _report(tmp_path, TINY["llama"], index(TINY["llama"]))
    assert ("\x1b[" in _table(report, colour)) is colour


def test_a_summary_fits_80_columns() -> None:
    reports = [Report(model="org/" + "long-name-" * 12, verdict="mismatch"), Report(model="[red]m", verdict="verified")]
    text = printed(PLAIN, table_of_models.overview(reports))
    assert _wide(text) == []
    assert "[red]m" in text


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.isprintable() and len(text) < 100], ids=ascii)
def test_markdown_shows_foreign_text_as_it_is(text: str) -> None:
    assert _rendered(markdown.escape(text)) == text
    assert _rendered(markdown.code(text)) == text


@pytest.mark.parametrize("text", ["`", "``", "a`", "`a", " a ", "  "], ids=repr)
def test_a_code_span_holds_any_backticks(text: str) -> None:
    assert _rendered("x" + markdown.code(text) + "x") == f"x{text}x"


def _rendered(source: str) -> str:
    """What a reader sees, without the markup."""
    (block,) = (token for token in _MARKDOWN.parse(source) if token.type == "inline")
    assert {token.type for token in block.children or ()} <= {"text", "code_inline", "text_special"}
    return "".join(token.content for token in block.children or ())


def test_markdown_has_no_raw_html_and_no_links_of_others(tmp_path: Path) -> None:
    text = markdown.details(_hostile(tmp_path))
    tokens = [token for block in _MARKDOWN.parse(text) for token in _all(block)]
    types = {token.type for token in tokens if not _own(token)}
    assert types & {"html_block", "html_inline", "link_open", "image", "s_open", "em_open"} == set()
    assert [line for line in text.split("\n") if not line.isprintable()] == []


def _own(token: Any) -> bool:
    """Whether it is the link to the page about a finding."""
    own = rf"{re.escape(PAGES)}/findings\.md#hf\d{{3}}"
    return token.type == "link_open" and re.fullmatch(own, token.attrs["href"]) is not None


def _all(token: Any) -> list[Any]:
    return [token, *(token.children or ())]


@pytest.mark.parametrize("name", ["a|b", "a`|b", "|", "a\\|b", "a\\", "`"], ids=ascii)
def test_a_name_never_breaks_a_row_of_the_summary(name: str) -> None:
    text = markdown.summary([Report(model=name, verdict="verified"), Report(model="m", verdict="mismatch")])
    cells = [token for token in _MARKDOWN.parse(text) if token.type == "inline"]
    assert len(cells) == 3 * 3
    assert cells[3].children is not None
    assert [(token.type, token.content) for token in cells[3].children] == [("code_inline", name)]


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 10, "0 %"), (0, 0, "0 %"), (10, 10, "100.0 %"), (1, 3, "33.3 %"), (1, 1000, "0.1 %"), (1, 1001, "< 0.1 %")],
)
def test_a_share_never_rounds_something_to_nothing(part: int, whole: int, text: str) -> None:
    assert share(part, whole) == text


SENTENCES: dict[str, tuple[Json, Json | None, dict[str, Any], str]] = {
    "verified": (
        TINY["llama"],
        index(TINY["llama"]),
        {},
        "verified: 4,740 parameters: all names and the total size match",
    ),
    "mismatch": (
        config("llama", num_hidden_layers=4),
        index(TINY["llama"]),
        {},
        "mismatch: 1 error (HF201 missing-tensor)",
    ),
    "allowed": (
        config("llama", num_hidden_layers=4),
        index(TINY["llama"]),
        {"policy": Policy(frozenset({"HF201", "HF202"}))},
        "allowed: 1 error (HF201)",
    ),
    "allowed, and nothing is left": (
        TINY["llama"],
        {},
        {"policy": Policy(frozenset({"HF001"}))},
        "unverified: nothing was compared; allowed: 1 error (HF001)",
    ),
    "counted": (
        TINY["llama"],
        None,
        {"depth": "config"},
        "counted: 4,740 parameters, from the config alone; nothing was compared",
    ),
}


@pytest.mark.parametrize(("values", "listed", "options", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_the_verdict_in_words(
    tmp_path: Path, values: Json, listed: Json | None, options: dict[str, Any], sentence: str
) -> None:
    report = _report(tmp_path, values, listed, **options)
    assert verdict(report) == sentence
    assert _table(report).splitlines()[1] == sentence
    assert markdown.escape(sentence) in markdown.details(report)


KNOWN = "differs only in known ways"


@pytest.mark.parametrize(
    ("bare", "copied", "sentence"),
    [
        (False, True, f"{KNOWN} (HF203 tied-weight-stored)"),
        (True, False, f"{KNOWN} (HF209 name-differs)"),
        (True, True, f"{KNOWN} (HF209 name-differs, HF203 tied-weight-stored)"),
    ],
)
def test_an_explained_verdict_names_the_findings_that_divide_loaders_first(
    tmp_path: Path, bare: bool, copied: bool, sentence: str
) -> None:
    values = config("qwen3", tie_word_embeddings=True)
    listed = index(values)
    if bare:
        names = listed["weight_map"]
        listed["weight_map"] = {name.removeprefix("model."): file for name, file in names.items()}
    if copied:
        listed["weight_map"]["lm_head.weight"] = "model-00001-of-00001.safetensors"
    said = verdict(_report(tmp_path, values, listed))
    assert said.startswith("explained: ")
    assert sentence in said


def test_a_run_that_could_not_look_says_why() -> None:
    report = failed("org/name", FetchError("GatedRepo", "org/name is gated."))
    assert "org/name is gated." in _table(report)
    assert "org/name is gated." in markdown.details(report)


RECORDED = sorted(ARCHITECTURES.glob("*.json"))


@pytest.mark.long
@over("path", RECORDED, ids=[path.stem for path in RECORDED], every=20)
def test_the_formula_of_every_architecture_is_shown_whole(tmp_path: Path, path: Path) -> None:
    values = json.loads(path.read_text())["config"]
    report = _report(tmp_path, values, None, depth="config", extras=("formula", "layers"))
    assert report.formula is not None
    text, typeset = _table(report), markdown.details(report)
    assert _wide(text) == []
    shown = "".join(text.split())
    for part in (*report.formula.parts, *report.formula.active, *report.formula.layers):
        assert "".join(f"={part.symbols}={part.numbers}={part.value:,}".split()) in shown
        assert f"${latex(part.symbols)}$" in typeset
    live = [token for token in _inline(typeset) if token.type in ("em_open", "link_open", "s_open")]
    assert [token for token in live if not _own(token)] == []
    assert sum(token.content.count("$") for token in _inline(typeset) if token.type == "text") == typeset.count("$")


def _inline(text: str) -> list[Token]:
    return [inner for token in _MARKDOWN.parse(text) for inner in token.children or ()]


@pytest.mark.parametrize(("encoding", "bars"), [("utf-8", True), ("ascii", False)])
def test_bars_where_the_terminal_has_the_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, bars: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    text = table.render([_report(tmp_path, TINY["llama"], None)])
    assert ("█" in text, text.isascii()) == (bars, not bars)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1.00 KiB"), (65_524_246_528, "61.02 GiB"), (2**70, "1,048,576.00 PiB")],
)
def test_bytes_in_binary_units(size: int, text: str) -> None:
    assert binary(size) == text


def _several(folder: Path) -> list[Report]:
    values = {"org/dense": TINY["qwen3"], "org/sparse": TINY["qwen3_moe"], "org/" + "long-name-" * 9: TINY["llama"]}
    return [inspect(Request(str(save(folder / name, config))), Options("config")) for name, config in values.items()]


def test_models_side_by_side(tmp_path: Path) -> None:
    head, rows, sizes = compared(_several(tmp_path))
    assert sizes == 5
    assert head == [
        *("model", "total", "active", "weights", "cache, per token"),
        *("embedding", "attention", "mlp", "experts", "router", "norm", "lm_head"),
    ]
    assert [row[:5] for row in rows] == [
        [str(tmp_path / "org/dense"), "6,072", "6,072", "11.86 KiB", "144 B"],
        [str(tmp_path / "org/sparse"), "12,840", "6,360", "25.08 KiB", "144 B"],
        [str(tmp_path / ("org/" + "long-name-" * 9)), "4,740", "4,740", "9.26 KiB", "72 B"],
    ]
    assert [row[7:10] for row in rows] == [["35.6 %", "", ""], ["", "67.3 %", "2.2 %"], ["45.6 %", "", ""]]
    assert _wide(printed(PLAIN, table_of_models.comparison(_several(tmp_path)))) == []


def test_a_model_that_could_not_be_read_is_left_out_of_the_comparison(tmp_path: Path) -> None:
    reports = [*_several(tmp_path), failed("org/gone", FetchError("NoSuchRepo", "no org/gone"))]
    rows = compared(reports).rows
    assert len(rows) == 3
    assert "org/gone" not in markdown.comparison(reports)


COMMANDS = ["::error file=x,line=1::pwned", "x ::warning::pwned", "##[error]pwned", "a::error::b" * 9, "::" * 99]


def _commanding(folder: Path, model: str = "org/name", **options: Any) -> Report:
    """A checkpoint that has a workflow command wherever it may have text."""
    listed = index(TINY["llama"])
    fillers = {f"{'x' * width} {command}": "m.safetensors" for width in range(0, 90, 3) for command in COMMANDS}
    listed["weight_map"] |= dict.fromkeys(COMMANDS, "model.safetensors") | fillers
    values = config("llama", dtype="::error::dtype")
    save(folder / model, values | dict.fromkeys(COMMANDS, 1), listed)
    return inspect(Request(model, fixtures=folder), Options(**options))


def _obeyed(text: str) -> list[str]:
    """The lines that GitHub's runner would take for commands."""
    return [line for line in text.splitlines() if line.strip().startswith("::") or "##[" in line]


@pytest.fixture(scope="module")
def commanding(tmp_path_factory: pytest.TempPathFactory) -> list[Report]:
    """Reports that have workflow commands wherever they may have text."""
    folder = tmp_path_factory.mktemp("commanding")
    return shared(
        tmp_path_factory,
        "commanding",
        lambda: [
            _commanding(folder, extras=("tensors", "formula")),
            _commanding(folder, "::error::model"),
            _commanding(folder, "##[error]model"),
            failed("::error::x", FetchError("HubError", "x" * 30 + " ::error::said " * 20)),
        ],
    )


@pytest.mark.parametrize("width", [40, 41, 42, 43, 60, 79, 80, 81, 119, 120, 160, 200])
def test_no_line_is_a_workflow_command(commanding: list[Report], monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    reports = commanding
    for some in (reports, reports[:1], reports[-1:]):
        for render in (table.render, markdown.render, json_report.render):
            assert _obeyed(text := render(some)) == []
            assert "error" in text
    assert [json.loads(line)["model"] for line in json_report.render(reports).splitlines()] == [
        one.model for one in reports
    ]


def test_a_command_is_broken_where_it_would_be_obeyed_alone() -> None:
    text = "a::b\n  ::error::c\n::d ##[e]"
    assert inert(text) == "a::b\n  \\::error::c\n\\::d #\\#[e]"
    assert inert(kept := "a :: b\n| ::c |\n# [x]") == kept


LIVE = [
    "https://elsewhere.example/a?b=c#d",
    "http://x",
    "www.elsewhere.example",
    "ftp://x/y",
    "me@elsewhere.example",
    "mailto:me@elsewhere.example",
    "@octocat",
    "(@org/team)",
    "#123",
    "org/name#123",
    "GH-123",
    'see "@octocat", and #1.',
    "`@octocat`",
    "a|https://b|c",
    "\\@octocat\\",
]


@pytest.mark.parametrize("text", LIVE)
def test_what_github_makes_links_of_is_code(text: str) -> None:
    """GitHub looks in the text that is shown, but not in code."""
    for source in (markdown.escape(text), f"- **{markdown.escape(text)}**", f"x {markdown.escape(text)} y"):
        shown = " ".join(one.content for one in _inline(source) if one.type != "code_inline")
        assert not re.search(r"@|://|www\.|#\d|GH-\d", shown)
    assert _rendered(markdown.escape(text)) == text


def test_a_report_has_nothing_live(tmp_path: Path) -> None:
    listed = index(TINY["llama"])
    listed["weight_map"] |= dict.fromkeys(LIVE, "model.safetensors")
    values = config("llama", dtype=LIVE[0]) | dict.fromkeys(LIVE, 1)
    report = _report(tmp_path, values, listed)
    refused = failed("@octocat/x#1", FetchError("HubError", " ".join(LIVE)))
    for text in (markdown.render([report]), markdown.render([refused]), markdown.render([report, refused])):
        shown = [one.content for one in _inline(text) if one.type != "code_inline"]
        assert [part for part in shown if re.search(r"@|://|www\.|#\d|GH-\d", part)] == []
        assert "octocat" in text


LARGE = ("Qwen/Qwen3-235B-A22B", "Qwen/Qwen3-32B")


@pytest.fixture(scope="module")
def large() -> list[Report]:
    options = Options(load=Workload(32768, 2, None, (8, 6), 80 << 30), extras=("tensors",))
    return [inspect(Request(name, fixtures=FIXTURES), options) for name in LARGE]


@pytest.mark.parametrize("width", [*range(40, 72, 3), 79, 80, 100, 120, 160, 200])
def test_no_number_breaks_at_any_width(monkeypatch: pytest.MonkeyPatch, large: list[Report], width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = table.render(large, full=True)
    assert _wide(text, width) == []
    for report in large:
        assert report.parameters is not None
        assert report.memory is not None
        numbers = [report.parameters.total, report.parameters.active, report.memory.weights_bytes]
        numbers += [report.memory.total_bytes, report.memory.ranks[0].weights_bytes]
        numbers += [part.total for part in report.components] + [row.elements for row in report.tensors or ()]
        assert [number for number in numbers if f"{number:,}" not in text] == []


def test_a_comparison_has_verdicts_and_what_is_asked_for(large: list[Report]) -> None:
    head, rows, sizes = compared(large)
    assert head[:sizes] == [
        *("model", "verdict", "total", "active", "weights", "cache, per token", "cache, 2 × 32,768"),
        *("weights, + cache", "tokens, by the config", "weights, each of 8 GPUs", "+ cache, each of 8 GPUs"),
        *("2 × tokens, in 80 GiB, each of 8 GPUs", "weights, each of 6 GPUs", "+ cache, each of 6 GPUs"),
        "2 × tokens, in 80 GiB, each of 6 GPUs",
    ]
    assert [row[1:sizes] for row in rows] == [
        [
            *("verified", "235,093,634,560", "22,190,763,520", "437.90 GiB", "188 KiB", "11.75 GiB", "449.65 GiB"),
            *("40,960", "54.91 GiB", "57.85 GiB", "208,483", "impossible", "unknown", "unknown"),
        ],
        [
            *("verified", "32,762,123,264", "32,762,123,264", "61.02 GiB", "256 KiB", "16 GiB", "77.02 GiB"),
            *("40,960", "7.63 GiB", "9.63 GiB", "1,080,866", "impossible", "unknown", "unknown"),
        ],
    ]
    for text in (table.render(large), markdown.render(large)):
        assert "449.65 GiB" in text


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("org/name", 8, ["org/name"]),
        ("fixtures/mistralai/Mixtral-8x7B-v0.1", 30, ["fixtures/mistralai/", "Mixtral-8x7B-v0.1"]),
        ("a/Qwen3-235B-A22B-Instruct", 14, ["a/Qwen3-235B-", "A22B-Instruct"]),
        ("with vocab_size=100 head_dim=8", 20, ["with vocab_size=100 ", "head_dim=8"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
    ],
)
def test_a_long_name_folds_between_its_words(name: str, width: int, lines: list[str]) -> None:
    assert folded(name, width).split("\n") == lines


def test_active_parameters_have_a_column_only_where_they_are_fewer() -> None:
    dense, sparse = (hfcount.verify(name, fixtures=FIXTURES) for name in ("Qwen/Qwen3-8B", "Qwen/Qwen3-235B-A22B"))
    heads = [line for line in markdown.render([dense, dense]).splitlines() if line.startswith(("| model", "| comp"))]
    assert heads
    assert [line for line in (*heads, markdown.details(dense)) if "active" in line] == []
    assert "| active |" in markdown.details(sparse)
    assert "| active |" in markdown.summary([dense, sparse])


def test_what_was_only_counted_has_no_verdict(tmp_path: Path) -> None:
    counted = _report(tmp_path, TINY["llama"], None, depth="config")
    assert (counted.verdict, outcome(counted), tally([counted])) == ("unverified", "counted", "1 model: 1 counted")
    assert outcome(failed("m", FetchError("NoConfig", "none"))) == "unverified"
    whole = hfcount.verify("Qwen/Qwen3-8B", fixtures=FIXTURES)
    for text in (table.render([counted, whole]), markdown.render([counted, whole])):
        assert ("counted" in text, "unverified" in text) == (True, False)


def test_what_is_in_memory_was_not_read_from_files() -> None:
    tensors = {leaf.name: (leaf.shape, "BF16") for leaf in hfcount.blueprint(TINY["llama"]).tensors()}
    text = str(hfcount.verify_tensors(TINY["llama"], tensors))
    assert "\nCompared: names, shapes and dtypes of the tensors in memory\n" in text
    assert "header" not in text


def test_a_sentence_ends_once(tmp_path: Path) -> None:
    report = hfcount.verify(save(tmp_path, TINY["llama"]), memory="80GB")
    assert "describes; fits in 80 GB" in verdict(report)


def test_the_source_alone_is_not_worth_a_line() -> None:
    assert origin(Report(model="m", verdict="mismatch", source="folder")) == ""
