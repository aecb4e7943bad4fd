"""HF201: missing tensor."""

from hfcount.mapper.loader_differences import VLLM
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some


class MissingTensor(Finding):
    """The config describes a tensor that the checkpoint lacks.

    Args:
        untied: whether nothing is missing but a head that the embedding may share.
        instead: heads of other classes that are stored.
        begun: whether it is an incomplete layer of multi-token prediction.
    """

    code = "HF201"
    name = "missing-tensor"
    level = "error"
    why = (
        "A partial upload (mostly whole layers are missing), a conversion that dropped the tensor, or a config of"
        " another size."
    )
    remedy = "Add what is missing, or correct the config."
    advises = False

    expected: int
    untied: bool = False
    instead: tuple[str, ...] = ()
    begun: bool = False

    @property
    def text(self) -> str:
        subject = printable(self.subject)
        of = f"of the {self.expected:,} that {subject} describes"
        text = f"the checkpoint lacks {plural(self.count, 'tensor')} {of}: {some(self.names)}."
        if self.untied:
            text += " tie_word_embeddings is false: if the head shares the embedding, set it to true."
        if self.instead:
            text += (
                f" {some(self.instead)} is stored instead, the head of another class: name that class in architectures,"
                f" or save the model from {subject}."
            )
        if self.begun:
            text += (
                f" Used for speculative decoding, {VLLM} refuses such an incomplete layer or leaves the rest of it"
                " uninitialised, depending on the model's class."
            )
        return text
