"""`hfcount hook` for pre-commit: verifies the checkpoints that changed files belong to."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from hfcount.cli import option_types as read
from hfcount.cli import shared_options
from hfcount.cli.option_groups import AnsweringCommand
from hfcount.fetcher.find_checkpoints import is_checkpoint, modules_in
from hfcount.fetcher.layout import ADAPTER, CONFIG, MODEL_INDEX, MODULES, PARAMS
from hfcount.options import AskedDepth

if TYPE_CHECKING:
    from hfcount.checkpoints.inspection import Options
    from hfcount.checkpoints.settings import ProjectSettings

_USUAL = r"(pytorch_)?model.*\.(safetensors|bin)(\.index\.json)?"
_OTHERS = ("node_modules", "site-packages")


@click.command(cls=AnsweringCommand, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@shared_options.depth("How far to look, as for hfcount verify.")
@click.option("--allow", multiple=True, metavar="CODE", callback=read.codes, help="Accept this error (repeatable).")
@click.option("--strict/--no-strict", help="Treat notes as errors, as for hfcount verify.")
@shared_options.NO_CONFIG
def command(files: tuple[str, ...], *, depth: AskedDepth, allow: frozenset[str], strict: bool, no_config: bool) -> int:
    """Verify the checkpoints that FILES belong to, for pre-commit.

    A FILE belongs to the nearest folder, its own or one above, with a config and weights or an index, an adapter, a
    pipeline or GGUF files. Hidden folders are left out. Prints a line for each model and each finding. Exits with 0 if
    no FILE belongs to a checkpoint, and for an adapter without findings whose base is not here.
    """
    folders = list(dict.fromkeys(folder for file in files for folder in _checkpoints(file)))
    if not folders:
        return 0
    from hfcount.cli.main import main

    fields = shared_options.given("depth", "strict")
    words = [word for code in sorted(allow) for word in ("--allow", code)]
    words += ["--depth", depth] if "depth" in fields else []
    words += ["--strict" if strict else "--no-strict"] if "strict" in fields else []
    words += ["--no-config"] if no_config else []
    code: int = main.main(["--format", "concise", *words, "--", *folders], standalone_mode=False)
    if code != 3:
        return code
    from hfcount.checkpoints.inspection import Options
    from hfcount.checkpoints.settings import ProjectSettings
    from hfcount.verifier.policy import Policy

    options, project = Options(depth, Policy(allow, strict)), ProjectSettings(None, no_config, fields)
    return 0 if all(_lacks_base_alone(folder, options, project) for folder in folders) else code


def _lacks_base_alone(folder: str, options: "Options", project: "ProjectSettings") -> bool:
    """Whether a checkpoint is sound, or an adapter that only its base could tell more of, which is not here."""
    from hfcount.checkpoints.inspect import inspect
    from hfcount.errors import HfcountError
    from hfcount.fetcher import Request
    from hfcount.fetcher.interface import early

    try:
        report = inspect(*project.applied(Request(folder, headers=early(options.depth)), options))
    except HfcountError:
        return False
    return report.exit_code == 0 or bool(report.error and report.error.kind in ("NotAsked", "BaseUnknown"))


def _checkpoints(file: str) -> Iterator[str]:
    """The folder of a file's checkpoint, if any."""
    inner = PurePath(file).parent
    if any(part in _OTHERS or (part[:1] == "." and part != "..") for part in inner.parts):
        return
    for folder in (inner, *inner.parents):
        if _is_model(str(folder)):
            yield str(folder)
            return


def _is_model(folder: str) -> bool:
    """Whether a folder holds a checkpoint of its own, not only a file named like a config."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    if not is_checkpoint(names):
        return False
    # Modules of sentence-transformers are verified with their model.
    if os.path.basename(os.path.abspath(folder)) in modules_in(os.path.join(folder, os.pardir)):
        return False
    if not {MODEL_INDEX, MODULES, PARAMS, ADAPTER}.isdisjoint(names) or any(map(_is_gguf, names)):
        return True
    if _describes_model(os.path.join(folder, CONFIG)):
        return True
    usual = any(re.fullmatch(_USUAL, name) for name in names)
    return usual and not os.path.isfile(os.path.join(folder, os.pardir, MODULES))


def _is_gguf(name: str) -> bool:
    return name.endswith(".gguf")


def _describes_model(path: str) -> bool:
    """Whether a config names its model type or class."""
    try:
        with open(path, encoding="utf-8") as file:
            values = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(values, dict) and not {"model_type", "architectures"}.isdisjoint(values)
