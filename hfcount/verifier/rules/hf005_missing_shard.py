"""HF005: missing shard."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree


class MissingShard(Finding):
    """A shard is missing that the index or the -of-N numbering implies.

    Args:
        files, absent: the absent files, and how many they are.
        numbers: which of a set of numbered files these are, if that is all that is absent.
        all: how many tensors the model has.
    """

    code = "HF005"
    name = "missing-shard"
    level = "error"
    why = "A partial upload, or an index from another conversion."
    remedy = "Upload or download what is missing."

    expected: int
    files: str
    absent: int
    numbers: str = ""
    all: int = 0

    def _numbers(self) -> str:
        return f" ({printable(self.numbers)})" if self.numbers else ""


class MissingByIndex(MissingShard):
    """Files that the index names are not there.

    Args:
        others, held: files that are there in place of those, and how many.
        stored: how many of the model's tensors those have; None if that is not known.
    """

    others: str = ""
    held: int = 0
    stored: int | None = None

    @property
    def text(self) -> str:
        gone = f"{self.absent:,} of them {agree(self.absent, 'is', 'are')} missing: {printable(self.files)}"
        text = (
            f"the index names {plural(self.expected, 'file')}, and {gone}{self._numbers()}."
            f" {agree(self.absent, 'It', 'They')} should hold {plural(self.count, 'tensor')}."
        )
        if self.stored is None:
            return text
        subject, others = printable(self.subject), f"{printable(self.others)} {agree(self.held, 'holds', 'hold')}"
        if self.stored == self.all:
            return f"{text} {others} every tensor that {subject} describes: the index belongs to another set of files."
        return f"{text} {others} {self.stored:,} of the {plural(self.all, 'tensor')} that {subject} describes."


class MissingByNumber(MissingShard):
    """Files are not there that the numbers in the names of others count, and that no index names.

    Args:
        indexed: whether there is an index, which names the others alone.
        short: how many of the model's tensors they must have; None if that is not known.
    """

    observed: int
    short: int | None
    indexed: bool = False

    @property
    def text(self) -> str:
        are, them = agree(self.absent, "is", "are"), agree(self.absent, "it", "them")
        index = f"the index names only {plural(self.observed, 'file')}" if self.indexed else "there is no index"
        text = (
            f"{printable(self.files)} {are} missing: the numbers in the other file names imply"
            f" {them}{self._numbers()}, and {index}. The save or the upload was not completed."
        )
        if self.short is None:
            return text
        described = plural(self.all, "tensor")
        return f"{text} {self.short:,} of the {described} that {printable(self.subject)} describes are missing."
