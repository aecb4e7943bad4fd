"""`hfcount fix`: repairs of a local folder that are proven."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from hfcount.cli import shared_options
from hfcount.cli.option_groups import AnsweringCommand
from hfcount.cli.option_types import codes, loader_named, settings, some_loader
from hfcount.errors import HfcountError
from hfcount.fetcher import Request, folder
from hfcount.fetcher.layout import MODEL_INDEX
from hfcount.text import plural, printable

if TYPE_CHECKING:
    from hfcount.mapper.whatif import Changes
    from hfcount.repair.originals import Step
    from hfcount.repair.plan import Plan
    from hfcount.repair.state import Proposal
    from hfcount.report.model import Report
    from hfcount.verifier.loaders.loader import Loader

EPILOG = """
\b
Exit codes: 0 nothing to repair, or everything was repaired and verified;
1 something still differs: run again with --write, or choose by --only or
--set; 2 wrong usage; 3 the folder could not be read or written.
"""


@click.command(
    cls=AnsweringCommand,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("paths", metavar="PATH", nargs=-1, type=click.Path(path_type=Path))
@click.option("--write", is_flag=True, help="Make the repairs. Without it, they are only shown.")
@click.option(
    "--only",
    multiple=True,
    metavar="CODE",
    callback=codes,
    help="Repair only this finding, by code or name, even if something is lost by it (repeatable).",
)
@click.option(
    "--set",
    "chosen",
    multiple=True,
    metavar="KEY=VALUE",
    callback=settings,
    help="Choose the value of a config key where several fit, or where something may be lost (repeatable).",
)
@click.option(
    "--for",
    "loader",
    metavar="LOADER",
    callback=loader_named,
    shell_complete=some_loader,
    help="Also write what this loader needs in config.json, such as mlx-lm, if all other loaders still read the same."
    " `hfcount loaders` lists them.",
)
@shared_options.json_instead("Print JSON, one object per model and line.")
@click.option("--undo", is_flag=True, help="Restore the files that the latest fix of this folder replaced.")
@click.option("--base", metavar="MODEL", help="The model that an adapter is for, if its folder has no config.json.")
@shared_options.DEBUG
def command(
    paths: tuple[Path, ...],
    *,
    write: bool,
    only: frozenset[str],
    chosen: "Sequence[Changes]",
    undo: bool,
    as_json: bool,
    base: str | None,
    loader: "Loader | None",
    debug: bool,
) -> int:
    """Repair a checkpoint in the local folder PATH where the repair is certain.

    Without --write, nothing is changed. --write makes a repair if no loader loads the checkpoint as it is, exactly one
    config, index or renaming fits all stored tensors, and no tensor is lost by it. Other repairs are shown with what is
    lost; --only, --set or --for makes them. fix changes the index, config.json and the headers of weight files, never a
    weight. The originals are kept in .cache/huggingface/hfcount in the folder, which uploads leave out; --undo restores
    them. In a pipeline, each model is repaired by itself; --set takes its folder before the key, such as
    unet.in_channels=4.
    """
    del debug  # whoever reports a crash looks for it
    if not paths:
        raise click.UsageError("Name PATH, the folder to repair, as in `hfcount fix ./my-model`.")
    path, *more = paths
    if more:
        raise click.UsageError(f"fix repairs one folder: {printable(str(more[0]))} takes a run of its own.")
    if len(chosen) > 1:
        raise click.UsageError("--set gives one key two values.")
    if undo and (write or only or chosen or loader):
        raise click.UsageError("--undo goes without --write, --only, --set and --for.")
    place, values = _folder(path), chosen[0] if chosen else {}
    from hfcount.repair.files import Unrepaired

    try:
        if undo:
            return _undone(place, as_json)
        if (place / MODEL_INDEX).is_file():
            if loader:
                raise click.UsageError("--for is for a model: name its folder in the pipeline.")
            return _of_parts(place, write, only, values, as_json)
        report, left = _fixed(place, write, only, values, as_json, base=base, loader=loader)
    except OSError as error:
        raise Unrepaired(f"{printable(str(path))} is not repaired: {error.strerror}.") from None
    return 1 if report is None else _code(report, left)


def _fixed(
    place: Path,
    write: bool,
    only: frozenset[str],
    values: "Changes",
    as_json: bool,
    *,
    base: str | None = None,
    loader: "Loader | None" = None,
) -> "tuple[Report | None, bool]":
    """Repairs a folder; returns its new report (None if not read) and whether repairs are left."""
    from hfcount.repair import journal
    from hfcount.repair.plan import planned, read_state

    if journal.interrupted(place) and not write:
        text = "An earlier run was interrupted between two files. --write finishes it."
        click.echo(json.dumps({"schema": 1, "model": str(place), "interrupted": True}) if as_json else text)
        return None, True
    if write:
        journal.resume(place)
    plan = planned(place, only, values, base, loader)
    if not as_json:
        for line in _plan_lines(plan, write):
            click.echo(line)
    steps = journal.write(place, plan.after.draft.changes) if plan.steps and write else []
    after = read_state(place, base, loader).report if steps else plan.before.report
    if as_json:
        click.echo(json.dumps(_plan_object(plan, steps, after if steps else None)))
    elif steps:
        for line in _written_lines(place, steps, after):
            click.echo(line)
    return after, bool(plan.steps) and not steps


def _written_lines(place: Path, steps: "Sequence[Step]", after: "Report") -> Iterator[str]:
    """What was written, where the originals are, and what came of it."""
    for step in steps:
        what = "its old header" if step.header else "the original"
        kept = f"; {what} is in {printable(step.kept)}" if step.kept else ""
        yield f"{'Removed' if step.goes else 'Wrote'} {printable(step.name)}{kept}."
    yield f"`hfcount fix --undo {quote(printable(str(place), 300))}` restores the originals."
    yield f"Checked again: {_verdict(after)}."


def _plan_object(plan: "Plan", steps: "Sequence[Step]", after: "Report | None") -> dict[str, object]:
    """What --json prints: the repairs, those that are offered, what was written, and the verdicts."""
    return {
        "schema": 1,
        "model": plan.before.report.model,
        "verdict": plan.before.report.verdict,
        "repairs": [_repair_object(step) for step in plan.steps],
        "expected": plan.after.report.verdict if plan.steps else None,
        "offers": [_repair_object(offer) for offer in plan.offers],
        "left": [
            {"code": finding.code, "severity": finding.severity, "message": finding.message}
            for finding in plan.after.findings
            if finding.advises or finding.blocks
        ],
        "written": [{"file": step.name, "removed": step.goes, "original": step.kept} for step in steps],
        "after": after.verdict if after else None,
    }


def _repair_object(proposal: "Proposal") -> dict[str, object]:
    return {
        "codes": sorted(proposal.codes),
        "repair": proposal.says,
        "gives_up": proposal.doubt or None,
        "files": list(proposal.changes),
    }


def _undone(place: Path, as_json: bool) -> int:
    """Brings back what the latest repair replaced; of a pipeline that of each part."""
    from hfcount.fetcher.unread_files import kept_runs
    from hfcount.repair import journal, originals

    repaired = [path for path in (place, *sorted(place.iterdir())) if kept_runs(path)] or [place]
    for path in repaired:
        journal.resume(path)
        undoing = originals.undoing(path)
        steps = journal.write(path, undoing.changes, keeping=False)
        originals.forget(path, undoing.run)
        if as_json:
            written = [{"file": step.name, "removed": step.goes} for step in steps]
            click.echo(json.dumps({"schema": 1, "model": str(path), "undone": written}))
            continue
        for step in steps:
            click.echo(f"{'Removed' if step.goes else 'Restored'} {printable(str(path / step.name))}.")
    if not as_json:
        click.echo(f"`hfcount {quote(printable(str(place), 300))}` verifies it.")
    return 0


def _of_parts(place: Path, write: bool, only: frozenset[str], values: "Changes", as_json: bool) -> int:
    """Repairs each model of a pipeline by itself; only prints findings between them and in the index."""
    from hfcount.checkpoints.inspect import inspect

    request = Request(str(place))
    before = inspect(request)
    names = [part.name for part in before.parts or () if part.verdict and (place / part.name).is_dir()]
    chosen = _by_part(names, values)
    left = False
    for part in before.parts or ():
        if part.name not in chosen or (part.verdict == "verified" and not chosen[part.name]):
            continue
        try:
            left |= _fixed(place / part.name, write, only, chosen[part.name], as_json)[1]
        except HfcountError as error:
            click.echo(f"{printable(str(place / part.name))}: {error}", err=as_json)
        if not as_json:
            click.echo("")
    after = inspect(request) if write else before
    if as_json:
        click.echo(json.dumps({"schema": 1, "model": str(place), "verdict": after.verdict, "parts": names}))
        return _code(after, left)
    click.echo(f"{printable(str(place))}, a pipeline of {plural(len(names), 'model')}: {_verdict(after)}.")
    for finding in after.findings:
        inner = finding.part in chosen and (place / finding.part).is_dir()
        if not inner or finding.code.startswith(("HF81", "HF82")):
            click.echo(f"{finding.code} {finding.severity}: {finding.message}")
    return _code(after, left)


def _by_part(names: Sequence[str], values: "Changes") -> dict[str, "Changes"]:
    """Values of --set by part; raises UsageError for one that names no part."""
    chosen = {name: _below(name, values) for name in names}
    if unmeant := values.keys() - {f"{name}.{key}" for name, keys in chosen.items() for key in keys}:
        key = printable(min(unmeant))
        parts = f"one of {', '.join(names)}" if names else "but no part has weights"
        raise click.UsageError(f"--set {key} must begin with a part of the pipeline, {parts}.")
    return chosen


def _below(part: str, values: "Changes") -> "Changes":
    """The values for a part, by its own keys."""
    start = f"{part}."
    return {key.removeprefix(start): value for key, value in values.items() if key.startswith(start)}


def _folder(path: Path) -> Path:
    """The folder to repair, which must not be in the shared Hugging Face cache."""
    if path.suffix in (".json", ".safetensors") and path.is_file():
        path = path.parent
    if not path.is_dir():
        raise click.UsageError(_no_folder(path))
    real_path = Path(os.path.realpath(path))
    if any(
        parent.parent.name == "snapshots" and (parent.parent.parent / "blobs").is_dir()
        for parent in (real_path, *real_path.parents)
    ):
        raise click.UsageError(
            f"{printable(str(path))} is in the Hugging Face cache, whose files all programs share. Make a copy with"
            " `hf download ORG/NAME --local-dir DIR`, and fix DIR."
        )
    return path


def _no_folder(path: Path) -> str:
    from hfcount.fetcher.suggestions import no_folder

    name = str(path)
    if folder.takes(Request(name)):
        return no_folder(path, name)
    repo = printable(name) if "/" in name else "ORG/NAME"
    return (
        f"{printable(name)} is not a local folder. fix changes nothing on the Hub: download the repo with"
        f" `hf download {repo} --local-dir DIR`, and fix DIR."
    )


def _plan_lines(plan: "Plan", write: bool) -> Iterator[str]:
    yield f"{plan.before.report.model}: {_verdict(plan.before.report)}."
    if plan.before.report.ok and not plan.steps:
        model = quote(printable(plan.before.report.model, 300))
        yield f"Values were not read. `hfcount --depth data {model}` checks them; fix cannot repair them."
    yield from _steps(plan)
    if plan.steps:
        yield f"\nAfter {'this repair' if len(plan.steps) == 1 else 'these repairs'}: {_verdict(plan.after.report)}."
        if not write:
            yield "Nothing was changed. Run again with --write to make the repairs; --undo restores the originals."
    barring = {finding.code for finding in plan.after.findings if finding.blocks}
    left = [finding for finding in plan.after.report.findings if finding.rule.advises or finding.code in barring]
    if left:
        yield "\nNo safe automatic fix:"
    for finding in left:
        yield f"{finding.code} {finding.severity}: {finding.message}"
        yield from _offered(plan.offers, finding.code)
    if any(finding.changes and finding.fix and not finding.sole for finding in plan.after.findings):
        yield "Several values would fit: choose one with --set KEY=VALUE."


def _steps(plan: "Plan") -> Iterator[str]:
    """The repairs, each with the findings that it removes."""
    from hfcount.repair.diff import diff

    state = plan.before
    for number, step in enumerate(plan.steps, 1):
        cured = [finding for finding in state.findings if not finding.codes.isdisjoint(step.codes)]
        for place, finding in enumerate(cured):
            lead = "  " if place else f"\n{number}."
            yield f"{lead} {finding.code} {finding.severity}: {finding.message}"
        yield f"   Repair: {printable(step.says, None)}"
        if step.doubt:
            yield f"   Note: {printable(step.doubt, None)}"
        yield from diff(state, step)
        state = state.with_changes(step.changes)


def _offered(offers: "Sequence[Proposal]", code: str) -> Iterator[str]:
    """Repairs offered for a finding, with the objections."""
    proposals = [proposal for proposal in offers if code in proposal.codes]
    for proposal in proposals:
        how = f"--only {code}" if len(proposals) == 1 else "--set with one of these values"
        yield f"   With {how}: {printable(proposal.says, None)}"
        if proposal.doubt:
            yield f"   Not applied automatically: {printable(proposal.doubt, None)}"


def _verdict(report: "Report") -> str:
    """The verdict, with the error if there is one."""
    if report.error:
        return f"{report.verdict} ({report.error.message.rstrip('.')})"
    return report.verdict


def _code(report: "Report", open_: bool) -> int:
    return max(report.exit_code, 1) if open_ else report.exit_code
