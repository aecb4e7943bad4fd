"""HF211: wrapped names."""

from collections.abc import Iterator

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short


class WrappedNames(Finding):
    """Tensor names carry a prefix or suffix added by a training wrapper: torch.compile, DDP, FSDP, PEFT, TRL.

    Args:
        changed: how many names carry something; `observed` is the first, and `expected` the model's name for it.
        title: what they carry.
        added: tensors of the wrapper.
        owner: the wrapper.
        flat: whether that holds all parameters of a module in one row.
        around: the larger model that names its language model so.
        alone: whether nothing of the model itself is stored.
        lost: whether the names tell of an adapter of which no tensor is stored.
    """

    code = "HF211"
    name = "wrapped-names"
    level = "error"
    why = "The wrapper's state_dict was saved instead of the model's."
    remedy = "Save the inner model with the call that the finding names."

    observed: str
    changed: int
    title: str
    added: tuple[str, ...]
    owner: str
    flat: bool
    around: str | None
    alone: bool
    lost: bool = False

    @property
    def text(self) -> str:
        return "".join(self._sentences()) + f"{printable(self.subject)} has no such names."

    def _sentences(self) -> Iterator[str]:
        if self.changed:
            carry = f"{plural(self.changed, 'name')} {agree(self.changed, 'carries', 'carry')} {printable(self.title)}"
            yield f"{carry}, such as {short(self.observed)} for {printable(str(self.expected))}. "
        if self.added:
            added = f"{self.owner} added {plural(len(self.added), 'tensor')}"
            yield f"{added}, such as {short(self.added[0])}. "
        if self.flat:
            yield "Each holds all parameters of a module in one row. "
        if self.around is not None:
            yield f"That is how {printable(self.around)} names its language model. "
        if self.lost:
            yield "Such names come from an adapter, but no tensor of the adapter is stored. "
        if self.alone:
            yield "No tensor of the model itself is stored: this is an adapter. "
