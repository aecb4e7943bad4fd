"""HF209: name differs."""

from typing import Literal

from hfcount.mapper.loader_differences import OLDER
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS, NEWEST
from hfcount.verifier.wording import agree, short

Effect = Literal["diffusers", "foreign", "random", "refused", "whole"]


class NameDiffers(Finding):
    """Names differ only by a prefix or a known renaming, which transformers converts when it loads.

    Args:
        effect: what is known of who takes such names: diffusers; nobody, as transformers does not read the scheme; or
            the newest transformers, where 4.57 loads the rest with random values, refuses them, or takes the whole.
        old: whether these are the early names of weight and bias.
        within: the prefix, where the names are those of the language model of a larger one.
        around: that larger model.
    """

    code = "HF209"
    name = "name-differs"
    level = "note"
    why = "The checkpoint was saved from another class of the same architecture, or by an early version."
    remedy = "Rename them to the names of the class."
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
        text = f"{differs} from the names of {printable(self.subject)} by a prefix or a known renaming, {such}."
        if self.old:
            text += " gamma and beta are old names of weight and bias."
        text += f" {_EFFECTS[self.effect]}"
        if self.within is not None:
            text += (
                f" {printable(self.within, 60)} is the prefix of the language model in {printable(self.around or '')}:"
                " if the checkpoint is that model, name that class in architectures."
            )
        return text


_EFFECTS = {
    "diffusers": f"{DIFFUSERS} converts them when it loads a file that is not sharded.",
    "foreign": f"{NEWEST} does not read this quantisation; hfcount does not know which library loads both forms of"
    " names.",
    "whole": f"{NEWEST} loads both.",
    "random": f"{NEWEST} loads both; {OLDER} expects the prefix on all names or on none, and fills the others with"
    " random values.",
    "refused": f"{NEWEST} loads both; {OLDER} refuses such names beside a head.",
}
