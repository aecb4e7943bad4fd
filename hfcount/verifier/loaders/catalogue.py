"""Lists the loaders that are known, and gives their readings of a checkpoint."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

from hfcount.verifier.loaders.facts import versions
from hfcount.verifier.loaders.loader import Basis, Checkpoint, Loader, Reading
from hfcount.verifier.loaders.mlx_lm import facts as mlx_lm_facts


class Library(NamedTuple):
    """A library that loads checkpoints.

    Args:
        versions: those that are known, the oldest first.
        module: its module in this room, whose `read(loader, checkpoint)` gives a reading.
        evidence: how what it does is known.
        knows: what is known of it.
    """

    versions: Callable[[], Sequence[str]]
    module: str
    evidence: Basis
    knows: str


def _read(known: Loader, checkpoint: Checkpoint) -> Reading:
    module = import_module(f"hfcount.verifier.loaders.{LIBRARIES[known.library].module}")
    reading: Reading = module.read(known, checkpoint)
    return reading


LIBRARIES = {
    "transformers": Library(
        versions,
        "transformers",
        "run",
        "classes, keys, names, sizes, ties and refused values of every type, recorded by loading small models",
    ),
    "mlx-lm": Library(
        mlx_lm_facts.versions,
        "mlx_lm.reading",
        "run",
        "keys, defaults, rotary settings, heads, names and quantisers of every type, recorded by loading small models",
    ),
}
"""The libraries by the name that --for takes."""


def loaders() -> list[Loader]:
    """Every loader that is known, of each library the newest first."""
    return [Loader(name, version) for name, library in LIBRARIES.items() for version in reversed(library.versions())]


def loader(text: str) -> Loader:
    """The loader that LIBRARY or LIBRARY@VERSION names; of several versions that fit, the newest.

    Raises:
        ValueError: there is none; the message lists those that are known.
    """
    name, _, version = text.strip().lower().partition("@")
    name = {"mlx_lm": "mlx-lm", "llamacpp": "llama.cpp", "llama-cpp": "llama.cpp"}.get(name, name)
    wanted = version.removeprefix("v").split(".") if version else []
    for known in loaders():
        if known.library == name and known.version.split(".")[: len(wanted)] == wanted:
            return known
    labels = ", ".join(known.label for known in loaders())
    raise ValueError(f"no loader is called {text}. Known are {labels}: `hfcount loaders` says what is known of each.")


def readings(checkpoint: Checkpoint) -> list[Reading]:
    """What every loader makes of a checkpoint, those first that it is made for."""
    made_for = home(checkpoint)
    found = [_read(known, checkpoint)._replace(home=known in made_for) for known in loaders()]
    return sorted(found, key=lambda reading: not reading.home)


def home(checkpoint: Checkpoint) -> tuple[Loader, ...]:
    """The loaders that a checkpoint is made for, by its container, its scheme and its class.

    What MLX has packed is for mlx-lm, where that has the type; models that see or hear are for a library of their own,
    of which nothing is known here.
    """
    if checkpoint.form != "model":
        return ()
    if any(announced.method == "mlx" for announced in checkpoint.announced) or "quantization" in checkpoint.values:
        known = loader("mlx-lm")
        sees = any(isinstance(checkpoint.values.get(key), dict) for key in ("vision_config", "audio_config"))
        has_type = mlx_lm_facts.facts(known.version, checkpoint.model_type, checkpoint.class_name)
        return (known,) if has_type and not sees else ()
    return (loader("transformers"),)
