"""What is done with the parts of a sweep when it has ended: rows that were replaced are dropped, small parts joined.

Each step writes one part whole, over another, before it removes any: killed between two, rows are there twice, of which
those of the later part are read, and the next sweep ends what was begun.
"""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile

from hfcount.sweeping import parts, rows
from hfcount.sweeping.keys import Keys
from hfcount.sweeping.retry import RetryRules


def drop(out: Path, again: RetryRules) -> None:
    """Writes the parts anew that have rows of which there are later ones, without these.

    A row of another version of hfcount than the later one is only dropped if it was to be looked at again.
    """
    checkpoints, same, columns = Keys(), Keys(), (*rows.CHECKPOINT, "version", "reason")
    for path in reversed(parts.parts(out)):
        dropped = set[int]()
        for place, row in enumerate(parts.read_part(path, columns)):
            later = not checkpoints.add(*rows.checkpoint(row))
            if not same.add(*rows.checkpoint(row), row["version"]) or (later and again.takes(row)):
                dropped.add(place)
        if dropped:
            kept = [rows.encoded(row) for place, row in enumerate(parts.read_part(path)) if place not in dropped]
            if kept:
                parts.write(path, BytesIO(b"".join(kept)))
            else:
                path.unlink()


def join(out: Path, counts: Mapping[Path, int], most: int) -> None:
    """Makes one part of several that follow one another and have no more rows than `most` together.

    Args:
        counts: the rows of each part, or more, as far as they are known.
    """
    for group in _groups(parts.parts(out), counts, most):
        target = _target(group)
        if target is None:
            continue
        with TemporaryFile(dir=out / ".sweep") as lines:
            for path in reversed(group):  # of two rows of one checkpoint the first of a part is the later one
                lines.writelines(rows.encoded(row) for row in parts.read_part(path))
            lines.seek(0)
            parts.write(target, lines)
        for path in group:
            if path != target:
                path.unlink()


def _groups(paths: list[Path], counts: Mapping[Path, int], most: int) -> Iterator[list[Path]]:
    group, total = list[Path](), 0
    for path in paths:
        count = counts.get(path)
        if count is None:  # by the driver of another shard
            count = sum(1 for _ in parts.read_part(path, rows.CHECKPOINT))
        if group and (total + count > most or path.suffix != group[-1].suffix):
            if len(group) > 1:
                yield group
            group, total = [], 0
        group.append(path)
        total += count
    if len(group) > 1:
        yield group


def _target(group: list[Path]) -> Path | None:
    """Where the rows of parts go: to the last, whose place is theirs; to one of no shard if they are of several.

    Nobody who copies the parts of a shard here again may then write over rows of another.
    """
    last = group[-1]
    if len(set(map(parts.shard, group))) == 1:
        return last
    target = last.with_name(f"part-{parts.number(last):06}{last.suffix}")
    return target if target in group or not target.exists() else None
