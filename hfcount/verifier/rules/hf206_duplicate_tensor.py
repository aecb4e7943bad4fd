"""HF206: duplicate tensor."""

from collections.abc import Sequence

from hfcount.fetcher.reasons import named
from hfcount.mapper.loader_differences import VLLM
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.wording import agree, short


class DuplicateTensor(Finding):
    """A tensor is stored in two shards.

    Args:
        first: the name of the first tensor; `observed` are the two files that have it.
        meant: the file that the index names for it; None where it names another for any of the tensors.
        left: the files whose tensors are left over, then.
        taken: the file that transformers and vLLM take it from; empty where that is not known.
    """

    code = "HF206"
    name = "duplicate-tensor"
    level = "error"
    why = "Shards of two conversions in one repo."
    remedy = "Delete the outdated files."

    observed: tuple[str, str]
    first: str
    meant: str | None = None
    left: Sequence[str] = ()
    taken: str = ""

    @property
    def text(self) -> str:
        first, second = map(printable, self.observed)
        are = agree(self.count, "is", "are")
        text = (
            f"{plural(self.count, 'tensor')} {are} in two files, such as {short(self.first)} in {first} and {second}."
        )
        if self.meant is not None:
            text += (
                f" The index names {printable(self.meant)} for {agree(self.count, 'it', 'them')}:"
                f" {agree(self.count, 'the copy', 'the copies')} in {printable(named(self.left))} {are} left over."
            )
        return f"{text} {NEWEST} and {VLLM} load the copy in {printable(self.taken)}." if self.taken else text
