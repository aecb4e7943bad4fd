"""HF702: not a state dict."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree


class NotAStateDict(Finding):
    """The tensors of a pickled file are under a key or in a list, or have no names: it is not a state dict.

    Args:
        path: the keys to where most tensors lie; empty if they lie at the top.
        nameless: whether keys of the dictionary are no text.
        fits: whether all tensors that the model needs lie there.
    """

    code = "HF702"
    name = "not-a-state-dict"
    level = "error"
    why = "A training checkpoint, with the optimizer and more, was saved instead of the model's state dict."
    remedy = "Save the state dict itself: torch.save(model.state_dict(), ...)."

    file: str
    path: tuple[str, ...]
    nameless: bool
    fits: bool

    @property
    def text(self) -> str:
        file = printable(self.file)
        if self.nameless:
            return f"{file}: keys of its dictionary are not text, so its tensors have no names."
        if not self.count:
            return f"{file} holds no dictionary of tensors: it is not a state dict."
        keys = "".join(f'["{printable(key, 60)}"]' for key in self.path)
        where = f"under {keys}" if keys else "in a list without names"
        subject = printable(self.subject)
        needed = f"{'all' if self.fits else 'not all'} that {subject} needs"
        return (
            f"{file}: {plural(self.count, 'tensor')} {agree(self.count, 'is', 'are')} {where} ({needed}). In a state"
            " dict they are at the top level, where this file has none."
        )
