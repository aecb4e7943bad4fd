"""The blueprint of a class that no family describes, with names and shapes from diffusers itself.

diffusers builds the model on the meta device, in this process and without weights. Only its own classes are built.
"""

import warnings
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hfcount.blueprints.derive_transformers import Derived, check_sizes, component_of, module_limit, tree_of
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Kind, Node, Tensor
from hfcount.text import printable
from hfcount.version import install


def derive(values: Mapping[str, Any], where: str) -> Derived:
    """The blueprint of a config.json by diffusers.

    Args:
        values: the config, whose model_type is the class.
        where: the document, for messages.

    Raises:
        UnknownArchitecture: diffusers has no such class, or builds no model of this config.
        ConfigError: it asks for more modules than can be built.
    """
    if not (find_spec("diffusers") and find_spec("torch")):
        needed = f"diffusers, which could, is not installed: {install('diffusers', 'torch')}"
        raise UnknownArchitecture(f"{where}: hfcount does not know it, and {needed}")
    diffusers, name = import_module("diffusers"), values.get("model_type")
    by = f"diffusers {diffusers.__version__}"
    kind: Any = getattr(diffusers, name, None) if isinstance(name, str) else None
    if not hasattr(kind, "extract_init_dict") or not issubclass(kind, diffusers.ModelMixin):
        raise UnknownArchitecture(
            f"{where}: neither hfcount nor {by} knows model class {printable(str(name), 60)}."
            " Upgrade diffusers, if the model is newer."
        )
    check_sizes(values, where)
    given = {key: value for key, value in values.items() if key != "model_type"}
    diffusers.utils.logging.set_verbosity_error()
    with warnings.catch_warnings(), module_limit(where), import_module("torch").device("meta"):
        warnings.simplefilter("ignore")
        try:
            model: Any = kind(**kind.extract_init_dict(given)[0])
        except (ConfigError, UnknownArchitecture):
            raise
        except Exception as error:  # whatever a modeling file of any class may raise
            text = f"{type(error).__name__}: {printable(' '.join(str(error).split()), 300)}"
            raise UnknownArchitecture(f"{where}: {by} builds no model of it: {text}") from None
    spec = Spec(
        family=kind.__name__,
        architecture=kind.__name__,
        hidden=0,
        layers=(),
        uncounted="names and shapes are all that is known",
    )
    return Derived(spec, tree_of(model, _tensors(model)), derived_with=by)


def _tensors(model: Any) -> dict[str, Node]:
    """The tensors that `save_pretrained` writes: every parameter, and the persistent buffers."""
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    nodes: dict[str, Node] = {}
    for name, tensor in model.state_dict().items():
        integers = not (tensor.is_floating_point() or tensor.is_complex())
        kind: Kind = "parameter" if name in parameters else "buffer"
        nodes[name] = Tensor(tuple(map(int, tensor.shape)), kind, component=component_of(name), whole=integers)
    return nodes
