"""HF847: processor state missing."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree


class ProcessorStateMissing(Finding):
    """A processor of a LeRobot policy names a file of statistics that is not there.

    Args:
        files, many: the files, and how many they are.
        processor: the file that names them.
    """

    code = "HF847"
    name = "processor-state-missing"
    level = "error"
    why = "They were not uploaded or copied."
    remedy = "Upload or download what is missing."

    files: str
    many: int
    processor: str

    @property
    def text(self) -> str:
        return (
            f"{self.processor} names {printable(self.files)}, which {agree(self.many, 'is', 'are')} missing: LeRobot"
            f" cannot build the processor, which reads its statistics from {agree(self.many, 'it', 'them')}."
        )
