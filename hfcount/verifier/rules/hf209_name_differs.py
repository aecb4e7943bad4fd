"""HF209: name differs."""

from typing import Literal

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short

Effect = Literal["diffusers", "foreign", "random", "refused", "whole"]


class NameDiffers(Finding):
    """Names differ only by a prefix or a known renaming, which transformers converts when it loads.

    Args:
        effect: what readers besides transformers 5 make of the names: those of the scheme, which transformers does not
            read, may take one form alone; earlier versions load the rest with random values; they refuse such names; or
            they take the whole.
        old: whether these are the early names of weight and bias.
        within: the prefix, where the names are those of the language model of a larger one.
        around: that larger model.
    """

    code = "HF209"
    name = "name-differs"
    level = "note"
    why = "The checkpoint was saved from another class of the same architecture, or by an early version."
    remedy = "Rename them for loaders that do not convert names."
    divides = True

    expected: str
    observed: str
    effect: Effect
    old: bool
    within: str | None = None
    around: str | None = None

    @property
    def text(self) -> str:
        such = f"such as {short(self.observed)} for {printable(self.expected)}"
        differs = f"{plural(self.count, 'name')} {agree(self.count, 'differs', 'differ')}"
        text = f"{differs} from what {printable(self.subject)} has only in a prefix or a known renaming, {such}."
        if self.old:
            text += " gamma and beta are early names of weight and bias."
        text += f" {_EFFECTS[self.effect]}"
        if self.within is not None:
            text += (
                f" {printable(self.within, 60)} is what {printable(self.around or '')} names its language model by:"
                " name that class in architectures, if it was meant."
            )
        return text


_EFFECTS = {
    "diffusers": "diffusers takes them in a file that is not sharded; other readers may not.",
    "foreign": "Readers of this scheme may accept only one form.",
    "whole": "transformers 5 accepts both; earlier versions, vLLM, llama.cpp and others may not.",
    "random": "transformers 5 accepts both; earlier versions look for the prefix on all names or on none and load the"
    " rest with random values, and vLLM, llama.cpp and others may not accept them.",
    "refused": "transformers 5 accepts both; earlier versions refuse such names beside a head, and vLLM, llama.cpp and"
    " others may not accept them.",
}
