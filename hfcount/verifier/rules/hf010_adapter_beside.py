"""HF010: adapter beside."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree


class AdapterBeside(Finding):
    """An adapter lies beside the model.

    Args:
        files, many: the adapter's files, and how many they are.
    """

    code = "HF010"
    name = "adapter-beside"
    level = "note"
    why = "A checkpoint and its adapter in one folder, by design or left over from a merge."
    remedy = "Keep it elsewhere, unless it is meant to be applied."

    files: str
    many: int

    @property
    def text(self) -> str:
        return (
            f"{printable(self.files)} {agree(self.many, 'is', 'are')} there beside the model. Where PEFT is installed,"
            " transformers applies the adapter to what it loads: to these weights from a folder, and from a repo to the"
            " base model that adapter_config.json names. Only these weights were compared."
        )
