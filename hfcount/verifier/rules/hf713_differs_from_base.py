"""HF713: differs from base."""

from collections.abc import Iterator

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short, sides, some


class DiffersFromBase(Finding):
    """A GGUF file agrees with its own metadata, but holds other tensors than the config of its base describes.

    Args:
        base: the model that it is compared with.
        layers, tokens: of the base and of the file, where these differ: layers, and tokens of the embedding.
        missing, unexpected: names, folded.
        shapes: how many tensors have another shape, the first of them, and both its shapes.
    """

    code = "HF713"
    name = "differs-from-base"
    level = "note"
    why = "A pruned, merged or extended model, an older conversion, or a base that is not the one it was made from."
    remedy = "Name with --base the model that the file was made from. If that is this base, convert it again."

    base: str
    layers: tuple[int, int] | None = None
    tokens: tuple[int, int] | None = None
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    shapes: tuple[int, str, tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def text(self) -> str:
        where = f"{printable(self.file or '')} differs from its base {printable(self.base)}"
        return f"{where}: {'; '.join(self._said())}."

    def _said(self) -> Iterator[str]:
        for what, pair in (("layers", self.layers), ("rows in the embedding", self.tokens)):
            if pair:
                yield f"{pair[0]:,} {what} expected, {pair[1]:,} stored"
        if self.missing:
            yield f"missing: {some(self.missing)}"
        if self.unexpected:
            yield f"not in the base: {some(self.unexpected)}"
        if self.shapes:
            count, name, expected, observed = self.shapes
            both = f"{sides(expected)} expected, {sides(observed)} stored"
            yield (
                f"{plural(count, 'tensor')} {agree(count, 'has', 'have')} another shape, such as {short(name)}: {both}"
            )
