"""HF907: contents differ."""

from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short


class ContentsDiffer(Finding):
    """A downloaded file has another sha256 than the Hub has listed; a note where it was written after the download.

    Args:
        later: whether it was written after it was downloaded.
    """

    code = "HF907"
    name = "contents-differ"
    level = "error"
    why = "A download or a disk that damaged the file, or a tool that wrote into the copy of a repo."
    remedy = "Delete the file and download it again."

    expected: str
    observed: str
    file: str
    later: bool

    @property
    def text(self) -> str:
        since = " It was written after it was downloaded." if self.later else ""
        return (
            f"{short(self.file)} has the sha256 {self.observed}, and when it was downloaded, the Hub had listed"
            f" {self.expected}.{since}"
        )
