"""HF713: differs from base."""

from collections.abc import Iterator

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short, sides, some


class DiffersFromBase(Finding):
    """A GGUF file is sound in itself, and holds other tensors than the config of its base gives.

    Args:
        base: the model that it is compared with.
        layers, tokens: of the base and of the file, where these differ: layers, and tokens of the embedding.
        missing, unexpected: names, folded.
        shapes: how many tensors have another shape, the first of them, and both its shapes.
    """

    code = "HF713"
    name = "differs-from-base"
    level = "note"
    why = "A pruned, merged or extended model, an older conversion, or another model than the one that is named."
    remedy = "Name the model that it was made of with --base."

    base: str
    layers: tuple[int, int] | None = None
    tokens: tuple[int, int] | None = None
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    shapes: tuple[int, str, tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def text(self) -> str:
        where = f"{printable(self.file or '')} is not {printable(self.base)} as its config gives it"
        return f"{where}: {'; '.join(self._said())}."

    def _said(self) -> Iterator[str]:
        for what, pair in (("layers", self.layers), ("rows in the embedding", self.tokens)):
            if pair:
                yield f"{pair[0]:,} {what} expected, {pair[1]:,} stored"
        if self.missing:
            yield f"missing {some(self.missing)}"
        if self.unexpected:
            yield f"{some(self.unexpected)} beside"
        if self.shapes:
            count, name, expected, observed = self.shapes
            both = f"{sides(expected)} expected, {sides(observed)} stored"
            yield f"{plural(count, 'tensor')} of another shape, such as {short(name)}: {both}"
