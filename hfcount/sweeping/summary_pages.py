"""Writes the summary as Markdown, HTML, dataset card and charts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from importlib.util import find_spec
from pathlib import Path

from hfcount.errors import SweepError
from hfcount.report.renderers.markdown import code
from hfcount.report.renderers.markdown import escape as marked
from hfcount.report.renderers.text import inert
from hfcount.sweeping.summary import Summary, largest, summed, tables
from hfcount.text import printable
from hfcount.version import __version__

_SCALES = ((10**6, "checkpoints, millions"), (10**3, "checkpoints, thousands"), (1, "checkpoints"))
_WORDS = ("model", "family", "scheme", "name", "verdict", "reason", "codes", "code", "relation", "base")

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2328;background:#fff}
table{border-collapse:collapse;margin:1rem 0}
th,td{border-bottom:1px solid #dfe3e8;padding:.3rem .8rem;text-align:right;font-variant-numeric:tabular-nums}
.w{text-align:left;overflow-wrap:anywhere}
img{max-width:100%}
"""

_CARD = """---
pretty_name: hfcount sweep
tags:
- hfcount
- safetensors
configs:
- config_name: default
  data_files:
  - split: train
    path: data/*.{kind}
---

{mark}

"""

_MARK = "<!-- Each sweep writes this page anew; without this line it is left as it is. -->"

_ABOUT = """
## The rows

One row for each checkpoint, by its commit; `version` is that of hfcount. `verdict` says whether it holds exactly the
tensors that its config.json describes, and `findings` lists every difference. `total`, `active` and `stored` are
parameters, `bytes` is the size of the weights; `reason` and `message` say why a checkpoint was skipped or could not be
verified. `bases` lists the models that the checkpoint says it was made from.

```sql
-- duckdb, in this folder
SELECT verdict, count(*) FROM '{files}' GROUP BY verdict ORDER BY 2 DESC;
SELECT finding.code, count(*) FROM (SELECT unnest(findings) AS finding FROM '{files}') GROUP BY 1 ORDER BY 2 DESC;
```
"""


def described(out: Path) -> Summary:
    """Writes README.md, which makes the folder a dataset, unless a foreign one exists; returns the summary."""
    summary = summed(out)
    if is_own(page := out / "README.md"):
        page.write_text(card(summary, markdown(summary)), encoding="utf-8")
    return summary


def write(out: Path, written: Callable[[Path, Callable[[], bytes]], None]) -> str:
    """Writes README.md, summary.md, summary.html and, with matplotlib, charts; returns summary.md's text.

    Args:
        written: writes a file, or reports why not.
    """
    if not (summary := summed(out)).total:
        raise SweepError(f"{printable(str(out))} has no rows yet.")
    drawn = charts(summary) if find_spec("matplotlib") else {}
    for name, picture in drawn.items():
        (out / name).parent.mkdir(exist_ok=True)
        written(out / name, partial(bytes, picture))
    text = markdown(summary, [*drawn])
    pages = {"README.md": card(summary, text), "summary.md": text, "summary.html": html(summary, drawn)}
    for name, page in pages.items():
        if name != "README.md" or is_own(out / name):
            written(out / name, page.encode)
    return text.rstrip("\n")


def markdown(summary: Summary, charts: Sequence[str] = ()) -> str:
    """The summary as Markdown."""
    return inert("\n".join(_lines(summary, charts))) + "\n"


def card(summary: Summary, text: str) -> str:
    """README.md of the folder as a dataset on the Hub."""
    return _CARD.format(kind=summary.kind, mark=_MARK) + text + _ABOUT.format(files=f"data/*.{summary.kind}")


def is_own(page: Path) -> bool:
    """Whether a sweep may write a page: it is missing, or a sweep's."""
    return not page.exists() or _MARK.encode() in page.read_bytes()


def html(summary: Summary, charts: Mapping[str, bytes]) -> str:
    """The summary as a self-contained HTML page."""
    from base64 import b64encode

    parts = [f"<h1>{escape(_title(summary))}</h1>", f"<p>{escape(_about(summary))}</p>"]
    for name, picture in charts.items():
        source = f"data:image/svg+xml;base64,{b64encode(picture).decode()}"
        parts.append(f'<p><img alt="{escape(name)}" src="{source}"></p>')
    for title, head, lines in tables(summary):
        if lines:
            parts += [f"<h2>{escape(title)}</h2>", "<table>", _row("th", head, head)]
            parts += [_row("td", head, line) for line in lines]
            parts.append("</table>")
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(_title(summary))}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{_STYLE}</style></head>\n<body>\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def charts(summary: Summary) -> dict[str, bytes]:
    """Charts by file name: verdicts in total, by family and by scheme (extra `plot`)."""
    from hfcount.report.renderers.colours import ALL
    from hfcount.report.renderers.plots import BarRow, drawn, lines

    def row(label: str, counts: Mapping[str, int]) -> BarRow:
        return BarRow(lines(label), {"": {verdict: counts[verdict] for verdict in ALL if counts.get(verdict)}}, True)

    groups = {"verdicts": {"all": summary.verdicts}, "families": summary.families, "schemes": summary.schemes}
    return {
        f"charts/{name}.svg": drawn([row(label, counts) for label, counts in largest(group_of)], "svg", scales=_SCALES)
        for name, group_of in groups.items()
        if group_of
    }


def _title(summary: Summary) -> str:
    return f"{summary.total:,} checkpoints"


def _about(summary: Summary) -> str:
    shares = summary.versions.most_common()
    others = f" ({', '.join(f'{count:,} by {version}' for version, count in shares)})" if len(shares) > 1 else ""
    by = max(summary.versions, key=_numbers, default=__version__)
    return f"As hfcount {by} finds them{others}. Digest of all rows: {summary.digest}"


def _lines(summary: Summary, charts: Sequence[str]) -> Iterator[str]:
    yield from (f"# {_title(summary)}", "", _about(summary))
    for name in charts:
        what = re.split(r"[/.]", name)[1]
        yield from ("", f"![{what}]({name})")
    for title, head, lines in tables(summary):
        if lines:
            yield from ("", f"## {title}", "")
            yield "| " + " | ".join(head) + " |"
            yield "| " + " | ".join(":--" if name in _WORDS else "--:" for name in head) + " |"
            for line in lines:
                cells = [
                    code(_shown(cell)) if name in ("model", "base") else marked(_shown(cell))
                    for name, cell in zip(head, line, strict=True)
                ]
                yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _row(tag: str, head: Sequence[str], cells: Sequence[object]) -> str:
    shown = (
        f"<{tag}{' class=w' if name in _WORDS else ''}>{escape(_shown(cell))}</{tag}>"
        for name, cell in zip(head, cells, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _numbers(version: str) -> list[tuple[int, str]]:
    """A sort key of versions."""
    return [(int(part) if part.isdecimal() else -1, part) for part in version.split(".")]
