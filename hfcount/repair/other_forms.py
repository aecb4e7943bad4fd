"""Says what a folder holds whose form has nothing that is repaired, and what to do with it instead."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote

from hfcount.checkpoints.adapter.diffusion.inspect import loras
from hfcount.checkpoints.forms import Container
from hfcount.errors import HfcountError
from hfcount.fetcher.interface import Documents, top_level
from hfcount.fetcher.layout import ADAPTER, PIPELINE_LAYOUT
from hfcount.fetcher.location import Place
from hfcount.fetcher.suggestions import command
from hfcount.repair.files import Unrepaired
from hfcount.text import plural, printable

_SHOWN = 3  # folders that are named


def refusal(folder: Path, opened: Documents | Place, container: Container | None) -> HfcountError:
    """Why `fix` has nothing to do for a folder, which is no model with a config.json.

    Args:
        opened: what was opened there.
        container: the form whose files describe themselves; None if there is none.

    Raises:
        FetchError: it is not known what its files are, or they are none of these forms.
    """
    if isinstance(opened, Documents) and opened.layout is PIPELINE_LAYOUT:
        where = printable(str(folder))
        return Unrepaired(f"{where} is a pipeline of several models: name the folder of one of them, in {where}.")
    place = opened.place if isinstance(opened, Documents) else opened
    assert place is not None
    if container and container.name in _FORMS:
        return _FORMS[container.name](folder, place)
    return place.refusal()


def _of_gguf(folder: Path, place: Place) -> HfcountError:
    first = min(name for name in place.sizes if ".gguf" in name.lower())
    return Unrepaired(
        f"{printable(str(folder))} has GGUF ({printable(first, 100)}), which `hfcount fix` does not take:"
        f" {command(str(folder))} verifies it, and what it was converted from can be repaired and converted again."
    )


def _of_adapters(folder: Path, place: Place) -> HfcountError:
    below = sorted(name.rpartition("/")[0] for name in place.sizes if name.endswith(f"/{ADAPTER}"))
    shown = ", ".join(printable(name, 100) for name in below[:_SHOWN])
    more = f" and {len(below) - _SHOWN:,} more" if len(below) > _SHOWN else ""
    one = f"`hfcount fix {quote(printable(os.path.join(folder, below[0]), 300))}`"
    held = f"{plural(len(below), 'adapter')} in folders below ({shown}{more})"
    return Unrepaired(f"{printable(str(folder))} has {held}, and fix repairs one at a time, as in {one}.")


def _of_loras(folder: Path, place: Place) -> HfcountError:
    """That there are LoRAs of diffusion models; raises FetchError with what other files are."""
    files = loras(place)
    alone = len(files) == 1
    first = printable(files[0], 100)
    what = f"a LoRA of a diffusion model ({first})"
    if not alone:
        what = f"{len(files):,} LoRAs of diffusion models, such as {first}"
    single = alone and sum(name.endswith(".safetensors") for name in top_level(place.sizes)) == 1
    ask = command(str(folder) if single else os.path.join(folder, files[0]), "--base", "PIPELINE")
    return Unrepaired(
        f"{printable(str(folder))} has {what}, in which fix repairs nothing: {ask} compares"
        f" {'it' if alone else 'one'} with its pipeline."
    )


_FORMS: Mapping[str, Callable[[Path, Place], HfcountError]] = {
    "gguf": _of_gguf,
    "adapters": _of_adapters,
    "lora": _of_loras,
}
"""By the names of containers."""
