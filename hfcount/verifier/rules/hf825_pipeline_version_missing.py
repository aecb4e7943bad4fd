"""HF825: pipeline version missing."""

from hfcount.text import printable, shown
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PipelineVersionMissing(Finding):
    """model_index.json has no version of diffusers, and loading a pipeline of this class compares it.

    Args:
        kind: the class of the pipeline.
        value: what is there instead of a version; empty if nothing is.
    """

    code = "HF825"
    name = "pipeline-version-missing"
    level = "error"
    why = "An edit by hand, or a script that wrote model_index.json without diffusers."
    remedy = "Add the version of diffusers that the pipeline was saved with."

    kind: str
    value: str

    @property
    def text(self) -> str:
        instead = f"has {shown(self.value)} for _diffusers_version" if self.value else "has no _diffusers_version"
        return (
            f"model_index.json {instead}, which {DIFFUSERS} compares when it loads {printable(self.kind, 60)}: it"
            " refuses the pipeline."
        )
