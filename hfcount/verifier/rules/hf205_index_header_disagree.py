"""HF205: index header disagree."""

from collections.abc import Iterator

from hfcount.fetcher.layout import BIN_INDEX
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short


class IndexHeaderDisagree(Finding):
    """The index and the headers disagree about which tensors exist, or in which shard.

    Args:
        gone: how many tensors no header has where the index puts them, the first of these, and its file.
        moved: how many are in another file than the index says, the first, the file that it says, and the right one.
        omitted: how many the index omits, the first of these, and its file.
    """

    code = "HF205"
    name = "index-header-disagree"
    level = "error"
    why = "Shards or the index come from another conversion, or one was edited without the other."
    remedy = "Rebuild the index from the shards."

    expected: int
    observed: int
    gone: tuple[int, str, str] | None = None
    moved: tuple[int, str, str, str] | None = None
    omitted: tuple[int, str, str] | None = None

    @property
    def text(self) -> str:
        held = f"the index lists {self.observed:,} tensors, the {self._place}s {self.expected:,}"
        return f"{held}: {'; '.join(self._differences())}."

    @property
    def _place(self) -> str:
        return "file" if self.file == BIN_INDEX else "header"

    def _differences(self) -> Iterator[str]:
        if self.gone:
            count, name, file = self.gone
            many = plural(count, "tensor")
            yield f"the index lists {many} that no {self._place} has, such as {short(name)} in {printable(file)}"
        if self.moved:
            count, name, file, right = self.moved
            where = f"{printable(file)}, but it is in {printable(right)}"
            yield f"it names the wrong file for {plural(count, 'tensor')}, such as {short(name)} in {where}"
        if self.omitted:
            count, name, file = self.omitted
            many = plural(count, "tensor")
            yield f"it omits {many} that the {self._place}s have, such as {short(name)} in {printable(file)}"
