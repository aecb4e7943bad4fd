"""HF801: invalid module settings."""

from hfcount.verifier.finding import Statement


class InvalidModuleSettings(Statement):
    """The settings of a sentence-transformers module lack a key or have a value that its class refuses."""

    code = "HF801"
    name = "invalid-module-settings"
    level = "error"
    why = "An edit by hand, or settings of another class."
    remedy = "Correct the settings, or save the module again."
