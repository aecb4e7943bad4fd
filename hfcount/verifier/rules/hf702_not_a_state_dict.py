"""HF702: not a state dict."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding


class NotAStateDict(Finding):
    """The tensors of a pickled file lie under a key or in a list, or have no names: it is no state dict.

    Args:
        path: the keys to where most tensors lie; empty if they lie at the top.
        nameless: whether keys of the dictionary are no text.
        fits: whether all tensors that the model needs lie there.
    """

    code = "HF702"
    name = "not-a-state-dict"
    level = "error"
    why = (
        "The checkpoint of a training, which holds an optimizer and more, was saved in place of the model's state dict."
    )
    remedy = "Save the state dict itself: torch.save(model.state_dict(), ...)."

    file: str
    path: tuple[str, ...]
    nameless: bool
    fits: bool

    @property
    def text(self) -> str:
        file = printable(self.file)
        if self.nameless:
            return f"{file}: keys of its dictionary are not text, so that its tensors cannot be told by their names."
        if not self.count:
            return f"{file} holds no dictionary of tensors: it is no state dict."
        keys = "".join(f'["{printable(key, 60)}"]' for key in self.path)
        where = f"under {keys}" if keys else "in a list without names"
        subject = printable(self.subject)
        needed = f"{'all' if self.fits else 'not all'} that {subject} needs"
        return (
            f"{file}: {plural(self.count, 'tensor')} lie {where}, {needed}. A state dict has them at the top, where"
            " there are none."
        )
