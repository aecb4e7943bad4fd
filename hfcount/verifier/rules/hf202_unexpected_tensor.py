"""HF202: unexpected tensor."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some


class UnexpectedTensor(Finding):
    """The checkpoint has a tensor that the config does not describe."""

    code = "HF202"
    name = "unexpected-tensor"
    level = "error"
    why = "A config of another size or architecture, leftovers of training, or a layout that was not converted."
    remedy = "Correct the config, or remove the tensors that do not belong to the model."
    advises = False

    @property
    def text(self) -> str:
        subject = printable(self.subject)
        return (
            f"the checkpoint has {plural(self.count, 'tensor')} that {subject} does not describe: {some(self.names)}."
        )
