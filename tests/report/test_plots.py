"""Figures: every number where it belongs, nothing over anything else, colours that every reader can tell apart."""

import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal, get_args
from xml.etree import ElementTree

import pytest
from build import save
from paths import ARCHITECTURES, FIXTURES

from hfcount.checkpoints.inspect import Options, failed, inspect
from hfcount.errors import FetchError
from hfcount.fetcher import Request
from hfcount.report.figures import ComponentCount, Parameters
from hfcount.report.model import Report
from hfcount.spec.tree.nodes import Component

matplotlib = pytest.importorskip("matplotlib", reason="no matplotlib; `pip install -e '.[plot]'` brings it")

# ruff: noqa: E402 - where matplotlib is missing, there is nothing to import from here on
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from hfcount.report.renderers.colours import COLOURS
from hfcount.report.renderers.plots import DARK, LIGHT, SETTINGS, compose, draw, short

Format = Literal["svg", "png", "pdf"]
FORMATS = get_args(Format)
SVG = "{http://www.w3.org/2000/svg}"

HUB = ("Qwen/Qwen3-32B", "Qwen/Qwen3-235B-A22B", "mistralai/Mixtral-8x7B-v0.1", "meta-llama/Llama-3.1-8B")
CONFIGS = ("deepseek_v3", "jamba", "kimi_linear", "qwen3_5", "mllama", "llama4", "gpt2", "gemma4")


def _report(
    model: str,
    sizes: Mapping[str, int],
    active: Mapping[str, int] | None = None,
    overrides: dict[str, Any] | None = None,
    *,
    whole: bool = True,
) -> Report:
    parts = tuple(
        ComponentCount(name=name, total=size, active=(active or {}).get(name, size)) for name, size in sizes.items()
    )
    total = sum(part.total for part in parts) if whole else None
    counts = Parameters(total=total, active=None, active_without_embedding=None, stored=None)
    return Report(model=model, verdict="unverified", parameters=counts, components=parts, overrides=overrides)


TINY = _report("org/tiny-30M", {"embedding": 12_300_000, "attention": 5_900_000, "mlp": 11_979_000, "norm": 21_000})
SET = _report("Qwen/Qwen3-32B", {"attention": 6 * 10**9, "mlp": 25 * 10**9}, None, {"num_key_value_heads": 64})
LONG = _report("meta-llama/Llama-3.2-11B-Vision-Instruct", {"mlp": 7 * 10**9, "norm": 10**6, "vision": 9 * 10**8})
EVERY = _report("every/component", dict.fromkeys(COLOURS, 7 * 10**8), dict.fromkeys(COLOURS, 2 * 10**8))
UNREAD = failed("org/gated", FetchError("GatedRepo", "org/gated is gated."))

HOSTILE = [
    "a$x^2$_b",
    "$",
    "\\frac{1}{2} $\\alpha$ %s {0}",
    "<script>alert(1)</script>&amp;]]>",
    "a\nb\x1b[31m\ud800\x00",
    "x" * 200,
    "W" * 200,
    "a/" * 100,
    "组织/通义千问三十二亿参数模型指令微调版本第二版增强型长上下文",
    "שלום/عالم-🤗",
    " ",
    "/models/of/somebody/checkpoints/run-2024-11-05/step-00120000/model-hf-converted",
]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    folder = tmp_path_factory.mktemp("configs")
    for name in CONFIGS:
        save(folder / name, json.loads((FIXTURES / "configs" / f"{name}.json").read_text()))
    mellum = json.loads((ARCHITECTURES / "mellum.json").read_text())["config"]
    save(folder / "mellum", mellum | {"num_mtp_layers": 1})  # which are not described
    places = [*((model, FIXTURES) for model in HUB), *((name, folder) for name in (*CONFIGS, "mellum"))]
    return {name: inspect(Request(name, fixtures=place), Options("config")) for name, place in places}


DRAWINGS = "one|one of experts|three|twelve|extremes|every component|unfinished|hostile|absurd".split("|")


MOST = {"one of experts", "extremes", "unfinished", "absurd"}
"""Drawings of a long run."""


@pytest.fixture(
    scope="module", params=[pytest.param(one, marks=[pytest.mark.long] * (one in MOST)) for one in DRAWINGS]
)
def drawing(request: pytest.FixtureRequest, real: dict[str, Report]) -> tuple[list[Report], Figure]:
    models = list(real.values())
    reports = {
        "one": models[:1],
        "one of experts": models[1:2],
        "three": [LONG, models[1], SET],
        "twelve": models[:12],
        "extremes": [TINY, real["deepseek_v3"]],
        "every component": [EVERY, UNREAD],
        "unfinished": [real["mellum"], TINY],
        "hostile": [_report(name, {"mlp": 2**40, "norm": 3}) for name in HOSTILE],
        "absurd": [_report("org/absurd", {"mlp": 2**158}, whole=False), _report("org/none", {"mlp": 1, "norm": 2})],
    }[request.param]
    return reports, _figure(reports)


def _figure(reports: Sequence[Report], dark: bool = False) -> Figure:
    with style.context(SETTINGS, after_reset=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compose(reports, DARK if dark else LIGHT)


def _texts(figure: Figure) -> list[tuple[Text, Bbox]]:
    """Every text that is drawn, and where."""
    with style.context(SETTINGS, after_reset=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure.set_dpi(200)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        found: list[Text] = [*figure.legends[0].get_texts()]
        for axes in figure.axes:
            limits = axes.get_xlim()
            ticks = [tick.label1 for tick in axes.xaxis.get_major_ticks() if limits[0] <= tick.get_loc() <= limits[1]]
            found += [axes.xaxis.label, *axes.texts, *ticks]
        renderer = canvas.get_renderer()
        # An annotation's own extent takes in what it points at.
        return [(text, Text.get_window_extent(text, renderer)) for text in found if text.get_text().strip()]


def _bars(axes: Axes) -> dict[float, list[Rectangle]]:
    """The bars from top to bottom, each with its parts from left to right."""
    found: dict[float, list[Rectangle]] = {}
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        found.setdefault(patch.get_y(), []).append(patch)
    return dict(sorted(found.items()))


def _fills(parts: Sequence[Rectangle]) -> list[str]:
    """The components that have these colours."""
    names = {fill: name for name, (fill, _, _) in COLOURS.items()}
    return [names[to_hex(part.get_facecolor())] for part in parts]


def _written(reports: Sequence[Report], dark: bool = False) -> list[str]:
    """The text elements of the SVG."""
    root = ElementTree.fromstring(draw(reports, "svg", dark))
    return [element.text or "" for element in root.iter(f"{SVG}text")]


# ----- what is drawn


@pytest.mark.sampled(3)
def test_nothing_is_over_anything_else_or_cut_off(drawing: tuple[list[Report], Figure]) -> None:
    _, figure = drawing
    texts = _texts(figure)
    page = figure.bbox
    for text, box in texts:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text.get_text()
    for (one, here), (other, there) in combinations(texts, 2):
        assert not here.overlaps(there), (one.get_text(), other.get_text())
    numbers, shares = figure.axes
    bars, parts = ([patch.get_window_extent() for patch in axes.patches] for axes in (numbers, shares))
    for text, box in texts:
        if text in numbers.texts:
            assert box.x1 <= numbers.bbox.x1, text.get_text()
            assert not any(map(box.overlaps, bars)), text.get_text()
        if text in shares.texts:
            assert sum(map(box.overlaps, parts)) == 1, text.get_text()


def test_bars_are_the_parameters(drawing: tuple[list[Report], Figure]) -> None:
    reports, figure = drawing
    bars = []
    for report in reports:
        stacks = [{part.name: part.total for part in report.components}]
        stacks += [{part.name: part.active for part in report.components}]
        bars += stacks[:1] if stacks[0] == stacks[1] else stacks
    bars = [{name: bar[name] for name in COLOURS if bar.get(name)} for bar in bars if bar]
    longest = max(sum(bar.values()) for bar in bars)
    unit = 10**9 if longest >= 10**9 else 10**6 if longest >= 10**6 else 1
    numbers, shares = (list(_bars(axes).values()) for axes in figure.axes)
    assert len(numbers) == len(shares) == len(bars)
    for bar, counted, shared in zip(bars, numbers, shares, strict=True):
        assert _fills(counted) == _fills(shared) == list(bar)
        for parts, whole in ((counted, sum(bar.values()) / unit), (shared, 100)):
            sizes = [size / sum(bar.values()) * whole for size in bar.values()]
            assert [part.get_width() for part in parts] == pytest.approx(sizes)
            assert parts[0].get_x() == 0
            for left, right in pairwise(parts):
                assert right.get_x() == pytest.approx(left.get_x() + left.get_width())


@pytest.mark.parametrize("dark", [False, True])
def test_labels_legend_and_totals_stand_there_once(real: dict[str, Report], dark: bool) -> None:
    written = _written([real["Qwen/Qwen3-32B"], real["Qwen/Qwen3-235B-A22B"], TINY, UNREAD], dark)
    for text in (
        "Qwen/Qwen3-32B", "32.8 B", "Qwen/Qwen3-235B-A22B", "all", "235 B", "active", "22.2 B", "org/tiny-30M",
        "30.2 M", "org/gated", "not counted", "parameters, billions", "share, %",
        "embedding", "attention", "mlp", "experts", "router", "norm", "lm_head",
    ):  # fmt: skip
        assert written.count(text) == 1, text
    assert not set(written) & {"ssm", "linear_attention", "mtp", "vision", "other"}


@pytest.mark.long
def test_models_stand_in_the_order_given_and_all_above_active() -> None:
    models = [LONG, TINY, SET, EVERY]
    for order in (models, models[::-1]):
        places = {text.get_text(): box.y0 for text, box in _texts(_figure(order))}
        firsts = [places[re.split(r"(?<=meta-llama/)| ", report.label)[0]] for report in order]
        assert firsts == sorted(firsts, reverse=True)
        assert places["all"] > places["every/component"] > places["active"]


def test_a_tiny_model_beside_a_huge_one_says_its_number(real: dict[str, Report]) -> None:
    figure = _figure([TINY, real["deepseek_v3"]])
    numbers, shares = figure.axes
    (tiny, *_), (whole, *_) = _bars(numbers).values(), _bars(shares).values()
    assert sum(part.get_window_extent().width for part in tiny) < 1
    assert sum(part.get_window_extent().width for part in whole) == pytest.approx(shares.bbox.width)
    assert {text.get_text() for text in shares.texts} >= {"41 %", "20 %", "40 %", "97 %", "54 %"}
    assert {text.get_text() for text in numbers.texts} >= {"30.2 M", "671 B", "37.6 B"}


@pytest.mark.parametrize(
    ("size", "title"),
    [(10**9, "parameters, billions"), (10**9 - 1, "parameters, millions"), (999_999, "parameters")],
)
def test_the_largest_model_sets_the_unit(size: int, title: str) -> None:
    assert _written([_report("org/a", {"mlp": size}), _report("org/b", {"mlp": 7})]).count(title) == 1


def test_what_is_not_described_is_said_to_be_missing(real: dict[str, Report]) -> None:
    written = _written([real["mellum"], real["gpt2"]])
    assert {"≥ 1.79 M", "≥ 803 K", "124 M"} <= set(written)
    assert [text for text in written if "not described" in text] == [
        "parameters, millions (≥: some parts are not described)"
    ]
    assert not any("≥" in text for text in _written([TINY, UNREAD]))


@pytest.mark.parametrize("reports", [[], [UNREAD], [_report("org/empty", {"mlp": 0})]], ids=["none", "unread", "empty"])
@pytest.mark.parametrize("format", FORMATS)
def test_nothing_to_draw_is_an_error(reports: list[Report], format: Format) -> None:
    with pytest.raises(ValueError, match=r"^There is nothing to draw: no model was counted\.$"):
        draw(reports, format)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"), (999, "999"), (1000, "1.00 K"), (4740, "4.74 K"), (999_499, "999 K"), (999_500, "1.00 M"),
        (9_994_999, "9.99 M"), (9_995_000, "10.0 M"), (99_949_999, "99.9 M"), (99_950_000, "100 M"),
        (30_200_000, "30.2 M"), (32_762_123_264, "32.8 B"), (671_026_404_352, "671 B"), (1_026_408_000_000, "1.03 T"),
        (10**16, "1.00e+16"),
    ],
)  # fmt: skip
def test_three_digits_and_a_letter(count: int, text: str) -> None:
    assert short(count) == text


@pytest.mark.parametrize(
    ("sizes", "texts"),
    [
        ({"embedding": 1, "mlp": 3}, ["25 %", "75 %"]),
        ({"embedding": 1, "mlp": 9_999}, ["> 99 %"]),
        ({"embedding": 5, "mlp": 95}, ["95 %"]),  # 5 % of a panel is narrower than its text
        ({"mlp": 5}, ["100 %"]),
        ({"vision": 1, "ssm": 1}, ["50 %", "50 %"]),
    ],
)
def test_shares_are_written_where_there_is_room(sizes: dict[str, int], texts: list[str]) -> None:
    _, shares = _figure([_report("org/name", sizes)]).axes
    assert [text.get_text() for text in shares.texts] == texts


# ----- files


@pytest.mark.parametrize(
    ("format", "start"),
    [
        ("svg", b"<?xml"),
        pytest.param("png", b"\x89PNG\r\n\x1a\n", marks=pytest.mark.long),
        pytest.param("pdf", b"%PDF-1.", marks=pytest.mark.long),
    ],
)
def test_the_same_reports_give_the_same_bytes(format: Format, start: bytes) -> None:
    first = draw([TINY, EVERY], format)
    assert first.startswith(start)
    assert draw([TINY, EVERY], format) == first
    assert draw([TINY, EVERY], format, dark=True) != first
    assert not re.search(rb"dc:date|CreationDate|tEXt", first)


@pytest.mark.long
def test_settings_of_the_reader_change_nothing(tmp_path: Path) -> None:
    """Neither those of the file nor those of the process; nor does another order of hashes."""
    (tmp_path / "matplotlibrc").write_text("font.size: 31\naxes.facecolor: red\nsvg.fonttype: path\nfigure.dpi: 30\n")
    script = f"""
import hashlib, matplotlib, sys
assert matplotlib.rcParams["font.size"] == 31
from hfcount.report.model import Report
from hfcount.report.renderers.plots import draw
reports = [Report.model_validate_json(line) for line in sys.stdin]
print(*(hashlib.sha256(draw(reports, format)).hexdigest() for format in {FORMATS!r}))
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        input="\n".join(report.to_json() for report in (TINY, EVERY)),
        env=os.environ | {"MATPLOTLIBRC": str(tmp_path), "PYTHONHASHSEED": "7"},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert done.stderr == ""
    hashes = [hashlib.sha256(draw([TINY, EVERY], format)).hexdigest() for format in FORMATS]
    assert done.stdout.split() == hashes


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_of_the_process_changes(format: Format) -> None:
    plain = draw([TINY], format)
    with matplotlib.rc_context({"font.size": 31, "axes.facecolor": "red", "svg.hashsalt": "x", "text.usetex": True}):
        before, filters = dict(matplotlib.rcParams), list(warnings.filters)
        assert draw([TINY], format) == plain
        assert dict(matplotlib.rcParams) == before
        assert warnings.filters == filters


@pytest.mark.long
def test_the_height_grows_with_the_rows_and_the_width_with_the_names() -> None:
    sizes = [struct.unpack(">II", draw([TINY] * count, "png")[16:24]) for count in (1, 2, 6)]
    widths, heights = zip(*sizes, strict=True)
    assert len(set(widths)) == 1
    assert heights[2] - heights[1] == pytest.approx(4 * (heights[1] - heights[0]), abs=4)
    assert heights[1] > heights[0]
    assert struct.unpack(">I", draw([LONG], "png")[16:20])[0] > widths[0]


@pytest.mark.long
def test_a_very_tall_image_has_fewer_lines_than_images_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = []
    monkeypatch.setattr(Figure, "savefig", lambda self, _, **more: lines.append(more["dpi"] * self.get_figheight()))
    draw([_report("a", {"mlp": 1})] * 460, "png")
    assert lines == [pytest.approx(2**15)]


@pytest.mark.parametrize(("dark", "theme"), [(False, LIGHT), (True, DARK)])
def test_the_page_is_painted_and_its_text_is_readable(dark: bool, theme: Any) -> None:
    figure = _figure([EVERY, UNREAD], dark)
    assert to_hex(figure.get_facecolor()) == theme.paper
    assert {to_hex(axes.get_facecolor()) for axes in figure.axes} == {theme.paper}
    outside = [text for text, _ in _texts(figure) if text not in figure.axes[1].texts]
    assert {to_hex(text.get_color()) for text in outside} == {theme.ink, theme.pale}
    assert min(_contrast(theme.paper, colour) for colour in (theme.ink, theme.pale)) >= 4.5
    assert f"fill: {theme.paper}".encode() in draw([TINY], "svg", dark)


# ----- names


@pytest.mark.parametrize("format", ["svg", *(pytest.param(one, marks=pytest.mark.long) for one in FORMATS[1:])])
def test_any_names_are_drawn_without_a_warning(format: Format) -> None:
    data = draw([_report(name, {"mlp": 5}) for name in HOSTILE], format)
    if format == "svg":
        ElementTree.fromstring(data)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.isprintable() and len(name) <= 120], ids=ascii)
def test_a_name_is_written_as_it_is(name: str) -> None:
    text = " ".join(_written([_report(name, {"mlp": 5})]))
    assert name.replace(" ", "") in text.replace(" ", "")


def test_a_very_long_name_loses_its_middle() -> None:
    lines = [text for text in _written([_report("a" * 100 + "b" * 100, {"mlp": 5})]) if set(text) <= set("ab…")]
    assert "".join(lines) == "a" * 79 + "…" + "b" * 40


@pytest.mark.parametrize(
    ("report", "lines"),
    [
        (SET, ["Qwen/Qwen3-32B", "num_key_value_heads=64"]),
        (LONG, ["meta-llama/", "Llama-3.2-11B-Vision-Instruct"]),
        (TINY, ["org/tiny-30M"]),
        (_report("a_very_long_name-with-hyphens_and_underscores", {"mlp": 1}), None),
    ],
)
def test_long_names_break_where_words_do(report: Report, lines: list[str] | None) -> None:
    lines = lines or ["a_very_long_name-with-hyphens_and_", "underscores"]
    written = _written([report])
    assert [written.count(line) for line in lines] == [1] * len(lines)


# ----- colours


def test_every_component_has_a_style() -> None:
    assert tuple(COLOURS) == get_args(Component)
    assert len({fill for fill, _, _ in COLOURS.values()}) == len(COLOURS)


@pytest.mark.long
def test_a_component_always_looks_the_same(real: dict[str, Report]) -> None:
    seen: dict[str, set[tuple[str, str]]] = {}
    for reports in ([EVERY], [TINY, real["jamba"]], [real["jamba"], real["qwen3_5"], LONG], list(real.values())):
        for dark in (False, True):
            legend = _figure(reports, dark).legends[0]
            for patch, text in zip(legend.get_patches(), legend.get_texts(), strict=True):
                look = to_hex(patch.get_facecolor()), patch.get_hatch()
                seen.setdefault(text.get_text(), set()).add(look)
    assert seen == {name: {(fill, hatch)} for name, (fill, _, hatch) in COLOURS.items()}


def test_the_legend_reads_line_by_line_in_the_order_of_the_stack() -> None:
    figure = _figure([EVERY])
    legend = figure.legends[0].get_texts()
    boxes = [(-round(box.y0 / 20), box.x0, text.get_text()) for text, box in _texts(figure) if text in legend]
    assert [name for _, _, name in sorted(boxes)] == list(COLOURS)
    assert len({row for row, _, _ in boxes}) == 2


VIEWS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    # Machado, Oliveira and Fernandes 2009, in linear light
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
}
Matrix = tuple[tuple[float, float, float], ...]


def _linear(colour: str) -> tuple[float, ...]:
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))


def _times(matrix: Matrix, colour: Sequence[float]) -> tuple[float, ...]:
    return tuple(min(max(sum(a * b for a, b in zip(row, colour, strict=True)), 0), 1) for row in matrix)


def _lab(colour: str, view: Matrix) -> tuple[float, float, float]:
    """CIE L*a*b* of a colour as a reader sees it."""
    to_xyz = ((0.4339, 0.3762, 0.1899), (0.2127, 0.7152, 0.0722), (0.0178, 0.1095, 0.8727))  # of the white, D65
    x, y, z = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
        for part in _times(to_xyz, _times(view, _linear(colour)))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _contrast(one: str, other: str) -> float:
    """As WCAG defines it."""
    dark, light = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (_linear(one), _linear(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("view", VIEWS)
def test_all_colours_differ_for_every_reader(view: str) -> None:
    """By four just noticeable differences, which are 2.3 each."""
    seen = {name: _lab(fill, VIEWS[view]) for name, (fill, _, _) in COLOURS.items()}
    for one, other in combinations(seen, 2):
        distance = sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5
        assert distance > 4 * 2.3, (one, other)


# What is left of models when slivers are (norms and routers are below one percent).
STACKS = (
    "embedding attention mlp lm_head vision",
    "embedding attention mlp vision other",
    "embedding attention mlp experts lm_head mtp",
    "embedding attention experts vision",
    "embedding attention linear_attention mlp experts lm_head vision",
    "embedding attention linear_attention experts mtp vision",
    "embedding linear_attention mlp lm_head other",
    "embedding attention ssm mlp experts lm_head",
    "embedding ssm experts router norm lm_head",
    "embedding ssm lm_head",
)


@pytest.mark.parametrize("stack", STACKS)
def test_neighbours_differ_in_print(stack: str) -> None:
    for one, other in pairwise(stack.split()):
        lightness = [_lab(COLOURS[name][0], VIEWS["all cones"])[0] for name in (one, other)]
        assert abs(lightness[0] - lightness[1]) > 7.5, (one, other)


@pytest.mark.parametrize("name", COLOURS)
def test_writing_in_a_bar_is_readable(name: str) -> None:
    fill, ink, _ = COLOURS[name]
    assert _contrast(fill, ink) >= 4.5


def _stacks(reports: Sequence[Report]) -> Iterator[list[str]]:
    for axes in _figure(reports).axes:
        yield from (_fills(parts) for parts in _bars(axes).values())


@pytest.mark.long
def test_the_stacks_above_are_those_of_models(real: dict[str, Report]) -> None:
    """Whatever touches in a real model, slivers aside, touches in one of them."""
    known = {pair for stack in STACKS for pair in pairwise(stack.split())}
    for report in real.values():
        whole = sum(part.total for part in report.components)
        broad = {part.name for part in report.components if part.total > whole / 100}
        for stack in _stacks([report]):
            assert set(pairwise(name for name in stack if name in broad)) <= known, report.model
