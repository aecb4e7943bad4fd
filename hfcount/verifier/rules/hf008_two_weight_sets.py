"""HF008: two weight sets."""

from collections.abc import Iterator, Sequence

from hfcount.mapper.loader_differences import SGLANG, VLLM
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.wording import agree, short


class TwoWeightSets(Finding):
    """model.safetensors exists beside the files that the index names, and is not a copy of them; a note where the
    headers show no difference.

    Args:
        among: whether the index names model.safetensors as one of its files.
        files: how many files the index names.
        problem: why its header cannot be read.
        same: whether all that was compared of the values is the same; None if none was.
        values: a tensor whose values differ.
        lacking, beyond, differing: names that it lacks, that they lack, and that differ in shape or dtype.
    """

    code = "HF008"
    name = "two-weight-sets"
    level = "error"
    why = "A checkpoint saved as one file over one saved in shards, or the reverse."
    remedy = "Delete the set that is not meant."

    among: bool = False
    files: int
    problem: str = ""
    same: bool | None = None
    values: str = ""
    lacking: Sequence[str] = ()
    beyond: Sequence[str] = ()
    differing: Sequence[str] = ()

    @property
    def text(self) -> str:
        place = f"{'as one of' if self.among else 'beside'} {plural(self.files, 'file')} that the index names"
        reads = f"{NEWEST} reads only that file, {VLLM} and {SGLANG} read the files of the index"
        return f"model.safetensors exists {place}: {reads}.{''.join(f' {text}' for text in self._differences())}"

    def _differences(self) -> Iterator[str]:
        both = "Both hold the same names, shapes and dtypes"
        if self.problem:
            yield f"Its header cannot be read: {printable(self.problem)}."
        elif self.same:
            yield f"{both}, and the bytes that were compared, at the beginning of tensors, are the same."
        elif self.values:
            yield f"{both}, but other values: {short(self.values)} differs."
        elif not (self.lacking or self.beyond or self.differing):
            yield f"{both}; headers do not show whether the values are the same."
        if self.lacking:
            yield (
                f"model.safetensors lacks {plural(len(self.lacking), 'tensor')} of the others, such as"
                f" {short(self.lacking[0])}."
            )
        if self.beyond:
            yield f"It has {plural(len(self.beyond), 'tensor')} that the others lack, such as {short(self.beyond[0])}."
        if self.differing:
            many, verb = plural(len(self.differing), "tensor"), agree(len(self.differing), "differs", "differ")
            yield f"{many} {verb} in shape or dtype, such as {short(self.differing[0])}."
