"""HF710: metadata differs."""

from collections.abc import Iterator

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import LLAMA_CPP
from hfcount.verifier.wording import agree, short, sides, some


class MetadataDiffers(Finding):
    """A GGUF file holds other tensors than its own metadata describes.

    Args:
        layers: by metadata and as stored, where their numbers differ.
        lacking, beyond: the numbers of the layers that are missing, or more than metadata counts.
        missing, unknown: tensors that are missing, and those that the architecture does not have; folded.
        shapes: how many tensors have another shape, the first of them, and both its shapes.
        halves: pairs of matrices of an adapter that do not fit together, as sentences.
        sizes: keys whose value is nothing that the tensors could have, as sentences.
    """

    code = "HF710"
    name = "metadata-differs"
    level = "error"
    why = "An interrupted conversion, an edited file, or the metadata of another model."
    remedy = "Convert the model again."

    layers: tuple[int, int] | None = None
    lacking: tuple[int, ...] = ()
    beyond: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    shapes: tuple[int, str, tuple[int | None, ...], tuple[int, ...]] | None = None
    halves: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(f"{printable(self.file or '')}: {text}" for text in self._said())

    def _said(self) -> Iterator[str]:
        if self.layers:
            expected, observed = self.layers
            yield f"its metadata says {plural(expected, 'layer')}, but {observed:,} are stored{self._numbers()}."
        if self.missing:
            it = agree(self.count, "it", "them")
            yield (
                f"{some(self.missing)} {agree(self.count, 'is', 'are')} missing: every {printable(self.subject)}"
                f" model has {it}."
            )
        if self.unknown:
            refuses = f"has no such tensor, so {LLAMA_CPP} refuses the file"
            yield f"{some(self.unknown)}: {printable(self.subject)} {refuses}."
        if self.shapes:
            count, name, expected_shape, observed_shape = self.shapes
            given = "×".join("?" if extent is None else str(extent) for extent in expected_shape)
            yield (
                f"{plural(count, 'tensor')} {agree(count, 'has', 'have')} another shape than the metadata says, such as"
                f" {short(name)}: expected {given}, stored {sides(observed_shape)}."
            )
        yield from self.halves
        yield from self.sizes

    def _numbers(self) -> str:
        parts = [
            f"{what} {', '.join(f'{number:,}' for number in numbers[:3])}{' ...' if len(numbers) > 3 else ''}"
            for what, numbers in (("missing:", self.lacking), ("not in the metadata:", self.beyond))
            if numbers
        ]
        return f" ({'; '.join(parts)})" if parts else ""
