"""Cleans up the parts of a finished sweep: drops replaced rows and joins small parts.

Each step writes a complete part over another before it removes any. If the driver is killed in between, rows exist
twice, those of the later part count, and the next sweep finishes the step.
"""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile

from hfcount.sweeping import parts, rows
from hfcount.sweeping.keys import Keys
from hfcount.sweeping.retry import RetryRules


def drop(out: Path, again: RetryRules) -> None:
    """Rewrites parts without rows that have later ones.

    A row of another version of hfcount than the later one is dropped only if the retry rules cover it.
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
    """Joins consecutive parts with at most `most` rows together.

    Args:
        counts: upper bounds of the rows of each part, if known.
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
    """The target of joined parts: the last one, or a part without shard label if several shards are mixed.

    Copying a shard's parts here again then cannot overwrite another shard's rows.
    """
    last = group[-1]
    if len(set(map(parts.shard, group))) == 1:
        return last
    target = last.with_name(f"part-{parts.number(last):06}{last.suffix}")
    return target if target in group or not target.exists() else None
