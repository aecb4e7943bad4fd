"""Says what diffusers, PEFT and sentence-transformers make of the checkpoints that are theirs alone.

What hfcount compares such a checkpoint with is how that library, in the version named here, builds it; so its findings
are what the library makes of it.
"""

from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading, ReadingOutcome

_FORMS = {"diffusers": "diffusers", "peft": "adapter"}
_SOURCES = {
    "diffusers": "mapper/diffusers.json",
    "peft": "checkpoints/adapter/",
    "sentence-transformers": "verifier/sentence_transformers/",
}
"""Where in this package what each library builds is described, as its tests compare with the library."""

_MODULES = "modules.json"


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """What the library makes of a checkpoint of its own."""
    library = loader.library
    if checkpoint.form != _FORMS.get(library, "model"):
        return Reading(loader, "foreign", f"is not for {checkpoint.form}", evidence="none")
    if library == "sentence-transformers" and _MODULES not in checkpoint.companions:
        return Reading(loader, "unknown", "was not asked what it adds to a model without modules.json", evidence="none")
    errors = [finding for finding in checkpoint.findings if finding.severity == "error" and not finding.of_serving]
    codes = tuple(dict.fromkeys(finding.code for finding in errors))
    if codes:
        return Reading(loader, "refuses", "as the findings say", codes, source=_SOURCES[library])
    if checkpoint.agrees is None:
        return Reading(loader, "unknown", "was given nothing that was compared", evidence="none")
    outcome: ReadingOutcome = "whole" if checkpoint.agrees else "differs"
    return Reading(loader, outcome, source=_SOURCES[library])
