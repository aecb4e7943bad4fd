"""HF126: chat template broken."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class ChatTemplateBroken(Finding):
    """The chat template is cut off, or a block in it is not closed, so jinja2 cannot parse it.

    Args:
        problem: what is wrong.
    """

    code = "HF126"
    name = "chat-template-broken"
    level = "note"
    why = "The template was cut off, or edited by hand."
    remedy = "Copy the template from the base model."
    informational = True

    file: str
    problem: str

    @property
    def text(self) -> str:
        return (
            f"The chat template in {printable(self.file)} does not parse: {self.problem}. transformers 5.23 loads the"
            " tokenizer, but apply_chat_template fails."
        )
