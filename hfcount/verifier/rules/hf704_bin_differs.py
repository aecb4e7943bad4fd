"""HF704: bin differs."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short, sides


class BinDiffers(Finding):
    """Pickled weights beside safetensors files cannot be read, or hold another model.

    Args:
        files: the pickled files.
        problem: why they cannot be read.
        lacking, further: tensors that the pickled files lack, and that they have besides.
        shapes: the shapes of tensors that differ, those in safetensors first.
        dtypes: pairs of dtypes that differ, that in safetensors first.
    """

    code = "HF704"
    name = "bin-differs"
    level = "note"
    why = "One of the two is from an earlier save."
    remedy = "Delete the pickled files, or save them again: from_pretrained loads them with use_safetensors=False."

    files: str
    problem: str = ""
    lacking: Sequence[str] = ()
    further: Sequence[str] = ()
    shapes: Mapping[str, tuple[Sequence[int], Sequence[int]]] = MappingProxyType({})
    dtypes: Sequence[tuple[str, str]] = ()

    @property
    def text(self) -> str:
        if self.problem:
            return f"{printable(self.files)} beside the safetensors files cannot be used: {printable(self.problem)}"
        what = "the same tensors in another dtype" if self._cast else "another model"
        return f"{printable(self.files)} beside the safetensors files holds {what}: {'; '.join(self._differences())}."

    @property
    def _cast(self) -> bool:
        return not (self.lacking or self.further or self.shapes)

    def _differences(self) -> Iterator[str]:
        for what, names in (("it lacks", self.lacking), ("it also has", self.further)):
            if names:
                yield f"{what} {plural(len(names), 'tensor')}, such as {short(names[0])}"
        if self.shapes:
            name, (here, there) = next(iter(self.shapes.items()))
            many, verb = plural(len(self.shapes), "tensor"), agree(len(self.shapes), "differs", "differ")
            yield (
                f"{many} {verb} in shape, such as {short(name)}: {sides(there)} in pickle, {sides(here)} in safetensors"
            )
        if self.dtypes:
            yield f"tensors are {', '.join(f'{there} instead of {here}' for here, there in self.dtypes[:3])}"
