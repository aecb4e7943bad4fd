"""Says what diffusers, mlx-lm, PEFT and sentence-transformers make of the checkpoints that are theirs alone.

What hfcount compares such a checkpoint with is how that library, in the version named here, builds it; so its findings
are what the library makes of it.
"""

from hfcount.verifier.loaders.by_findings import by_findings, errors_of
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading

_SOURCES = {
    "diffusers": "mapper/diffusers.json",
    "peft": "checkpoints/adapter/",
    "mlx-lm": "checkpoints/adapter/mlx.py",
    "sentence-transformers": "verifier/sentence_transformers/",
}
"""Where in this package what each library builds is described, as its tests compare with the library."""

_MODULES = "modules.json"


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """What the library makes of a checkpoint of its own."""
    library = loader.library
    if library == "sentence-transformers" and _MODULES not in checkpoint.companions:
        return Reading(loader, "unknown", "was not asked what it adds to a model without modules.json", evidence="none")
    source = _SOURCES[library]
    if errors := errors_of(checkpoint):
        return by_findings(loader, errors, source)
    if checkpoint.agrees is None:
        return Reading(loader, "unknown", "was given nothing that was compared", evidence="none")
    return Reading(loader, "whole", source=source)
