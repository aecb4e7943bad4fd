"""Draws reports as stacked bars of parameters by component, absolute and in percent, a row a model."""

import io
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch
from matplotlib.textpath import TextToPath
from matplotlib.ticker import MaxNLocator

from hfcount.report.model import Report
from hfcount.report.renderers.colours import ALL, COLOURS
from hfcount.text import printable

_PANEL, _GAP, _MARGIN, _AXIS = 264, 28, 14, 38  # all lengths are in points
_BAR, _LINE, _BETWEEN, _LEGEND = 16, 11, 12, 14
_TEXT, _SMALL = 9, 8
_NUMBER = 58  # room for a number behind the longest bar
Scales = Sequence[tuple[int, str]]
_SCALES: Scales = ((10**9, "parameters, billions"), (10**6, "parameters, millions"), (1, "parameters"))
_LETTERS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))
SETTINGS = {
    "svg.fonttype": "none",  # text can be searched and read aloud, and the reader's fonts have glyphs that ours lack
    "svg.hashsalt": "hfcount",
    "pdf.fonttype": 42,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],  # where the first is missing, one as wide
    "font.size": _SMALL,
    "text.parse_math": False,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.5,
}


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours that match the page around the figure; `paper` is GitHub's background."""

    paper: str
    ink: str
    pale: str
    grid: str


LIGHT = Theme("#ffffff", "#1f2328", "#59636e", "#dfe3e8")
DARK = Theme("#0d1117", "#f0f6fc", "#9198a1", "#2a3038")


@dataclass(frozen=True, slots=True)
class BarRow:
    """A model: the lines of its label, its bars (elements by component), and whether they cover the `whole` model.

    Or anything else that is made of parts which colours.ALL knows.
    """

    lines: Sequence[str]
    bars: Mapping[str, Mapping[str, int]]
    whole: bool

    @property
    def height(self) -> int:
        """Points that it takes."""
        return max(_BAR * len(self.bars), _LINE * len(self.lines)) + _BETWEEN


def draw(reports: Sequence[Report], format: Literal["svg", "png", "pdf"], dark: bool = False) -> bytes:
    """The figure as a file: the same reports give the same bytes.

    Raises:
        ValueError: none of the models was counted.
    """
    return drawn([_row(report) for report in reports], format, dark)


def drawn(
    rows: Sequence[BarRow], format: Literal["svg", "png", "pdf"], dark: bool = False, scales: Scales = _SCALES
) -> bytes:
    """The figure of rows that are at hand; `scales` are units of their numbers, and what they are called."""
    out = io.BytesIO()
    with style.context(SETTINGS, after_reset=True), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # the box that is shown says so
        figure = _figure(rows, DARK if dark else LIGHT, scales)
        stamp = {"svg": "Date", "pdf": "CreationDate", "png": "Software"}[format]
        dpi = min(200, 2**15 / figure.get_figheight())  # an image has less than 2**16 lines
        figure.savefig(out, format=format, dpi=dpi, metadata={stamp: None})
    return out.getvalue()


def compose(reports: Sequence[Report], theme: Theme) -> Figure:
    """The figure: labels, a panel of numbers and one of shares, the legend above them."""
    return _figure([_row(report) for report in reports], theme, _SCALES)


def _figure(rows: Sequence[BarRow], theme: Theme, scales: Scales) -> Figure:
    bars = [bar for row in rows for bar in row.bars.values()]
    if not bars:
        raise ValueError("There is nothing to draw: no model was counted.")
    columns = _columns([name for name in ALL if any(name in bar for bar in bars)])
    tags = 14 + max(_length(name, _SMALL) for row in rows for name in row.bars)
    left = _MARGIN + max(_length(line, _TEXT) for row in rows for line in row.lines) + tags
    above, height = _MARGIN + _LEGEND * len(columns[0]), sum(row.height for row in rows)
    width, full_height = left + 2 * _PANEL + _GAP + _MARGIN, above + height + _AXIS

    figure = Figure((width / 72, full_height / 72), facecolor=theme.paper)
    figure.legend(
        handles=[_patch(name, theme) for column in columns for name in column], ncols=len(columns), frameon=False,
        loc="upper left", bbox_to_anchor=(left / width, 1 - _MARGIN / full_height), borderaxespad=0, borderpad=0,
        handlelength=1.5, handletextpad=0.5, columnspacing=1.5, labelcolor=theme.ink,
    )  # fmt: skip
    numbers, shares = (
        figure.add_axes((x / width, _AXIS / full_height, _PANEL / width, height / full_height))
        for x in (left, left + _PANEL + _GAP)
    )
    longest = max(sum(bar.values()) for bar in bars)
    unit, title = next(scale for scale in scales if longest >= scale[0])
    title += _part(rows)
    _frame(numbers, title, longest / unit * _PANEL / (_PANEL - _NUMBER), height, theme, unit == 1)
    _frame(shares, "share, %", 100, height, theme)
    top = 0
    for row in rows:
        middle = top + row.height / 2
        _label(numbers, row, middle, tags, theme)
        _draw(numbers, shares, row, middle, unit, theme=theme)
        top += row.height
    return figure


def _part(rows: Sequence[BarRow]) -> str:
    """What is said of the numbers, if not all are whole."""
    return "" if all(row.whole for row in rows if row.bars) else " (≥: some parts are not described)"


def _draw(numbers: Axes, shares: Axes, row: BarRow, middle: float, unit: int, *, theme: Theme) -> None:
    """The bars of one model, in both panels."""
    for number, bar in enumerate(row.bars.values()):
        y, total = middle + _step(number, len(row.bars), _BAR), sum(bar.values())
        _stack(numbers, y, {name: size / unit for name, size in bar.items()}, theme)
        text = short(total) if row.whole else f"≥ {short(total)}"
        behind = {"facecolor": theme.paper, "linewidth": 0, "pad": 1}
        _write(numbers, total / unit, y, 5, text, color=theme.ink, bbox=behind)
        _stack(shares, y, {name: 100 * size / total for name, size in bar.items()}, theme, percent=True)


def short(count: int) -> str:
    """Three digits of a number, and a letter for its size: `32.8 B`."""
    for size, letter in _LETTERS:
        value = count / size
        if value >= 0.9995:
            digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:,.{digits}f} {letter}" if value < 10**4 else f"{count:.2e}"
    return str(count)


def _row(report: Report) -> BarRow:
    sums = Counter[str](), Counter[str]()
    for part in [part for part_ in report.parts or (report,) for part in part_.components]:
        sums[0][part.name] += part.total
        sums[1][part.name] += part.total if part.active is None else part.active
    total, active = ({name: sizes[name] for name in COLOURS if sizes[name]} for sizes in sums)
    bars = {"": total} if total == active else {"all": total, "active": active}
    complete = report.parameters is not None and report.parameters.total is not None
    return BarRow(lines(report.label), {name: bar for name, bar in bars.items() if bar}, complete)


def lines(label: str) -> list[str]:
    """A label broken into lines, at slashes and spaces where possible; a very long one loses its middle."""
    text = printable(label, None)
    if len(text) > 120:
        text = f"{text[:79]}…{text[-40:]}"
    return [line.strip() for line in re.findall(r".{1,36}$|.{1,35}[/ ]|.{1,35}[-_.=]|.{1,36}", text)] or [text]


def _columns(names: Sequence[str]) -> list[Sequence[str]]:
    """The legend's columns, read line by line, in as few lines as the width allows."""
    for lines in range(1, len(names) + 1):
        count = -(-len(names) // lines)
        columns = [names[first::count] for first in range(count)]
        if sum(28 + max(_length(name, _SMALL) for name in column) for column in columns) <= 2 * _PANEL + _GAP:
            break
    return columns


def _length(text: str, size: int) -> float:
    """The width of a text, in points."""
    return TextToPath().get_text_width_height_descent(text, FontProperties(size=size), ismath=False)[0]


def _patch(name: str, theme: Theme) -> Patch:
    fill, _, hatch = ALL[name]
    return Patch(facecolor=fill, hatch=hatch, edgecolor=theme.paper, linewidth=0, label=name)


def _frame(axes: Axes, title: str, limit: float, height: int, theme: Theme, integers: bool = False) -> None:
    """An empty panel; y is in points from the top. `whole`: only whole numbers are marked."""
    axes.set(xlim=(0, limit), ylim=(height, 0), yticks=[], facecolor=theme.paper)
    axes.set_xlabel(title, color=theme.pale)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=integers, min_n_ticks=1))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.tick_params(axis="x", length=0, pad=5, labelcolor=theme.pale)
    axes.grid(axis="x", color=theme.grid, linewidth=0.6)
    axes.spines[:].set_visible(False)
    axes.axvline(0, color=theme.pale, linewidth=0.8, zorder=3)


def _step(number: int, count: int, pitch: int) -> float:
    """The offset of item `number` of `count` from their common middle."""
    return pitch * (number - (count - 1) / 2)


def _label(axes: Axes, row: BarRow, middle: float, tags: float, theme: Theme) -> None:
    """The text to the left of a model's bars, or instead of them."""
    for number, line in enumerate(row.lines):
        y = middle + _step(number, len(row.lines), _LINE)
        _write(axes, 0, y, -tags, line, ha="right", size=_TEXT, color=theme.ink)
    for number, name in enumerate(row.bars):
        _write(axes, 0, middle + _step(number, len(row.bars), _BAR), -6, name, ha="right", color=theme.pale)
    if not row.bars:
        _write(axes, 0, middle, 5, "not counted", color=theme.pale)


def _stack(axes: Axes, y: float, sizes: Mapping[str, float], theme: Theme, percent: bool = False) -> None:
    """One stacked bar; percentages are written into the parts where they fit."""
    start = 0.0
    for name, size in sizes.items():
        fill, ink, hatch = ALL[name]
        room = size / axes.get_xlim()[1] * _PANEL
        # Edges and a hatch would hide a thin part.
        look = {"edgecolor": theme.paper, "hatch": hatch, "linewidth": 0.8} if room > 2 else {"linewidth": 0}
        axes.barh(y, size, _BAR - 3, start, facecolor=fill, zorder=2, **look)
        text = "> 99 %" if 99.5 <= size < 100 else f"{size:.0f} %"
        if percent and _length(text, _SMALL) + 4 <= room:
            behind = {"facecolor": fill, "linewidth": 0, "pad": 1.5} if hatch else None
            _write(axes, start + size / 2, y, 0, text, ha="center", color=ink, bbox=behind)
        start += size


def _write(axes: Axes, x: float, y: float, offset: float, text: str, **options: Any) -> None:
    """Text beside a point of a panel."""
    options = {"size": _SMALL, "va": "center", **options}
    axes.annotate(text, (x, y), (offset, 0), textcoords="offset points", annotation_clip=False, **options)
