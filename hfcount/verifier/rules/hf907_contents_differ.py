"""HF907: contents differ."""

from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short


class ContentsDiffer(Finding):
    """A downloaded file has another sha256 than the Hub listed; a note where it was changed after the download.

    Args:
        later: whether it was written after it was downloaded.
    """

    code = "HF907"
    name = "contents-differ"
    level = "error"
    why = "A download or a disk that damaged the file, or a tool that changed the local copy of the repo."
    remedy = "Delete the file and download it again."

    expected: str
    observed: str
    file: str
    later: bool

    @property
    def text(self) -> str:
        since = " It was changed after the download." if self.later else ""
        return (
            f"{short(self.file)} has the sha256 {self.observed}, but at download the Hub listed {self.expected}.{since}"
        )
