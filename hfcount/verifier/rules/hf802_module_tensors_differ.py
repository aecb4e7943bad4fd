"""HF802: module tensors differ."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import SENTENCE_TRANSFORMERS
from hfcount.verifier.wording import some


class ModuleTensorsDiffer(Finding):
    """The file of a sentence-transformers module lacks tensors, or has tensors that its class does not load.

    Args:
        file: of the module's weights; kind: its class; config: the file of its config.
        lacking, beyond: names of tensors that are not there, and of those that its class does not take.
    """

    code = "HF802"
    name = "module-tensors-differ"
    level = "error"
    why = "The config of another module, or weights that another class saved."
    remedy = "Correct the module's config or its class in modules.json, or save the module again."

    file: str
    kind: str
    config: str
    lacking: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        by = f"by {printable(self.config)} " if self.config else ""
        says = []
        if self.lacking:
            says.append(f"lacks {plural(len(self.lacking), 'tensor')} that {self.kind} {by}needs: {some(self.lacking)}")
        if self.beyond:
            says.append(f"has {plural(len(self.beyond), 'tensor')} that {self.kind} does not load: {some(self.beyond)}")
        return f"{printable(self.file)} {', and '.join(says)}. {SENTENCE_TRANSFORMERS} refuses to load it."
