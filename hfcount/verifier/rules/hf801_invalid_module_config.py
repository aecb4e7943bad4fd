"""HF801: invalid module config."""

from hfcount.verifier.finding import Statement


class InvalidModuleConfig(Statement):
    """The config of a sentence-transformers module lacks a key, or has a key or value that its class refuses."""

    code = "HF801"
    name = "invalid-module-config"
    level = "error"
    why = "An edit by hand, or the config of another class."
    remedy = "Correct the config, or save the module again."
