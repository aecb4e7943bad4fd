"""Says what llama.cpp makes of a checkpoint: of GGUF files its loader, of others first its converter."""

import re
from collections.abc import Iterator

from hfcount.text import printable
from hfcount.verifier.loaders.llama_cpp.gguf import LOADER, loading
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """The reading of a folder, or the worst of GGUF files: one that is refused, then one that is not known."""
    if checkpoint.form == "model":
        from hfcount.verifier.loaders.llama_cpp.converter import folder  # of no use for GGUF

        return folder.read(loader, checkpoint)
    if not checkpoint.headers:
        return Reading(loader, "unknown", "loads models, and there is none in these files", evidence="none")
    readings = sorted(_files(loader, checkpoint), key=lambda reading: _WORST.index(reading.outcome))
    return readings[0]


_WORST = ("refuses", "differs", "unknown", "whole", "foreign")


def _files(loader: Loader, checkpoint: Checkpoint) -> Iterator[Reading]:
    several = len(checkpoint.headers) > 1
    for file, header in checkpoint.headers.items():
        errors = [
            finding
            for finding in checkpoint.findings
            if finding.severity == "error" and _PART.sub("", finding.file or "") == _PART.sub("", file)
        ]
        codes = tuple(dict.fromkeys(finding.code for finding in errors))
        place = f" (of {printable(file)})" if several else ""
        broken = tuple(code for code in codes if code in _BROKEN)
        if header is None or broken:
            yield Reading(loader, "refuses", f"refuses the file, as the findings say{place}", broken or codes, "read")
            continue
        if (part := _LATER_PART.search(checkpoint.named)) is not None:
            first = f"{checkpoint.named[: part.start()]}-00001-of-{part['count']}.gguf"
            says = f"loads a set by its first part, {printable(first)}, alone, and refuses to begin with another"
            yield Reading(loader, "refuses", says, codes, "read", LOADER)
            continue
        loaded = loading(loader.version, header)
        if loaded.loads is None:
            yield Reading(loader, "unknown", f"{loaded.says}{place}", evidence="none", source=loaded.source)
        elif not loaded.loads:
            yield Reading(loader, "refuses", f"{loaded.says}{place}", codes, "read", loaded.source)
        elif codes:
            says = f"loads it without what the findings say{place}"
            yield Reading(loader, "differs", says, codes, "read", loaded.source)
        else:
            yield Reading(loader, "whole", evidence="read", source=loaded.source)


_PART = re.compile(r"-\d{5}-of-\d{5}(?=\.gguf$)")
"""What tells the parts of a set apart."""

_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-(?P<count>\d{5})\.gguf$")
"""The end of the name of a part of a set, but for the first."""

_BROKEN = ("HF003", "HF004", "HF711")
"""Findings of files that cannot be read, or of sets that are not complete."""
