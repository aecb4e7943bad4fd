"""The blueprint of a type that no family describes, with names and shapes from transformers itself.

transformers builds the model on the meta device, in this process and without weights, and its own steps of saving name
the tensors. Only its own classes are built; code that a repo brings is never run.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import is_index
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, Tied
from hfcount.spec.tree.spellings import Spellings, compiled
from hfcount.text import printable
from hfcount.version import install

MOST_MODULES = 2_000_000
"""A config that asks for more modules is refused: each is built, unlike the layers that a family folds."""

MOST_LAYERS = 100_000
"""The same for numbers of layers, of which configuration classes make lists before any module is built."""

# What a tensor is counted under, by the first of these that is found in its name.
_COMPONENTS: tuple[tuple[str, Component], ...] = (
    (r"vision|visual|image|pixel|patch_embed", "vision"),
    (r"audio|speech|feature_extractor", "audio"),
    (r"projector|connector|merger|adapter", "projector"),
    (r"norm|(^|\.)ln(_|\.)|(^|_)bn\d*\.", "norm"),
    (r"experts", "experts"),
    (r"router|(moe|mlp|ffn|feed_forward)\.gate\.", "router"),
    (r"mamba|ssm|a_log|dt_bias", "ssm"),
    (r"attn|attention", "attention"),
    (r"mlp|ffn|feed_forward|intermediate|fc\d|dense|up_proj|down_proj|gate_proj", "mlp"),
    (r"embed|wte|wpe|position", "embedding"),
    (r"head|classifier|score", "lm_head"),
)


class Derived(Blueprint, kw_only=False):
    """A blueprint of names and shapes alone: there are no formulas, no active parameters and no serving costs.

    `base` is the base model's name inside classes with a head, with a final dot; "" if it has none.
    """

    base: str = ""

    @cached_property
    def spellings(self) -> Spellings:
        """The names without the base model's prefix, or with it."""
        return Spellings(compiled({}), prefix=self.base)


def derive(values: Mapping[str, Any], where: str) -> Derived:
    """The blueprint of a config.json by transformers.

    Args:
        values: the config.
        where: the document, for messages.

    Raises:
        UnknownArchitecture: transformers has no such type or class, or builds no model of this config.
        ConfigError: it asks for more modules than can be built.
    """
    if not (find_spec("transformers") and find_spec("torch")):
        needed = f"transformers, which could, is not installed: {install('transformers', 'torch')}"
        raise UnknownArchitecture(f"{where}: hfcount does not know it, and {needed}")
    transformers = import_module("transformers")
    by, name = f"transformers {transformers.__version__}", values.get("model_type")
    if not isinstance(name, str) or name not in transformers.CONFIG_MAPPING:
        raise UnknownArchitecture(
            f"{where}: neither hfcount nor {by} knows model_type {printable(str(name), 60)}."
            " Upgrade transformers, if the model is newer."
        )
    check_sizes(values, where)
    with _quiet(), module_limit(where):
        try:
            config = transformers.CONFIG_MAPPING[name].from_dict(dict(values))
            chosen = _class(transformers, config, values, name)
            with import_module("torch").device("meta"):
                model = chosen._from_config(config)
            tree = tree_of(model, saved_nodes(model)[0])
        except (ConfigError, UnknownArchitecture):
            raise
        except Exception as error:  # whatever a configuration or modeling file of any type may raise
            text = f"{type(error).__name__}: {printable(' '.join(str(error).split()), 300)}"
            raise UnknownArchitecture(f"{where}: {by} builds no model of it: {text}") from None
    dtype = values.get("dtype", values.get("torch_dtype"))
    spec = Spec(
        family=name,
        architecture=chosen.__name__,
        dtype=dtype if isinstance(dtype, str) else None,
        hidden=0,
        layers=(),
        uncounted="names and shapes are all that is known",
    )
    base = f"{chosen.base_model_prefix}." if chosen.base_model_prefix else ""
    return Derived(spec, tree, base=base, derived_with=by)


def _class(transformers: Any, config: Any, values: Mapping[str, Any], name: str) -> Any:
    """The class that the config names, or the base model's.

    Raises:
        UnknownArchitecture: transformers has no such class for this type.
    """
    named = values.get("architectures")
    if isinstance(named, list) and named and isinstance(named[0], str):
        class_ = getattr(transformers, named[0], None)
        if not (isinstance(class_, type) and issubclass(class_, transformers.PreTrainedModel)):
            raise UnknownArchitecture(
                f"transformers {transformers.__version__} has no class {printable(named[0], 80)} for {name}, and code"
                " that a repo brings is not run."
            )
        return class_
    known = transformers.MODEL_MAPPING
    if type(config) not in known:
        raise UnknownArchitecture(f"the config names no class, and transformers has no base model for {name}.")
    class_ = known[type(config)]
    return class_[0] if isinstance(class_, tuple) else class_


def tree_of(model: Any, nodes: dict[str, Node]) -> Block:
    """The tree of the tensors of a model by their names, with those of linear maps as such."""
    nn = import_module("torch.nn")
    for path, module in model.named_modules():
        weight = nodes.get(f"{path}.weight")
        if type(module) is nn.Linear and isinstance(weight, Tensor) and len(weight.shape) == 2:
            del nodes[f"{path}.weight"]
            bias = nodes.pop(f"{path}.bias", None) is not None
            nodes[path] = Linear(weight.shape[1], weight.shape[0], bias, weight.component)
    return Block(dict(_children(_nested(nodes))))


def saved_nodes(model: Any) -> tuple[dict[str, Node], dict[str, str]]:
    """What `save_pretrained` writes of a model by name, with second names of tied tensors, and obsolete buffers.

    Also the name in memory of each tensor that is written under another; its own where it was made of several.
    """
    state, stored = _written(model)
    names = {id(tensor): name for name, tensor in state.items()}
    in_memory = {name: names.get(id(tensor), name) for name, tensor in stored.items()}
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    buffers = {name for name, _ in model.named_buffers(remove_duplicate=False)}
    nodes: dict[str, Node] = {}
    for name, tensor in stored.items():
        is_buffer = in_memory[name] in buffers and in_memory[name] not in parameters
        integers = not (tensor.is_floating_point() or tensor.is_complex())
        shape = tuple(map(int, tensor.shape))
        nodes[name] = Tensor(
            shape, "buffer" if is_buffer else "parameter", component=component_of(name), whole=integers
        )
    for name in buffers - parameters - state.keys() - nodes.keys():  # older versions stored some
        buffer = model.get_buffer(name)
        nodes[name] = Tensor(tuple(buffer.shape), "buffer", "obsolete", whole=not buffer.is_floating_point())
    written = {name: other for other, name in in_memory.items()}
    for name, to in getattr(model, "all_tied_weights_keys", {}).items():
        to = written.get(to, to)
        if name in state and name not in nodes and to in nodes:
            shape = tuple(map(int, state[name].shape))
            weight = name.endswith(".weight")
            nodes[name] = Tied(to, shape, component_of(name)) if weight else Tensor(shape, presence="spare")
    return nodes, in_memory


def _written(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors of a model by their names in memory, and those that are written, by the names that they then have."""
    loading = import_module("transformers.core_model_loading")
    saving = import_module("transformers.modeling_utils")
    ignored = set(model._keys_to_ignore_on_save or ())
    state = {name: tensor for name, tensor in model.state_dict().items() if name not in ignored}
    left = saving.remove_tied_weights_from_state_dict(dict(state), model)
    return state, loading.revert_weight_conversion(model, left)


def component_of(name: str) -> Component:
    """The component of a tensor, by its name."""
    return next((component for words, component in _COMPONENTS if re.search(words, name.lower())), "other")


_Nest = dict[str, Any]


def _nested(nodes: Mapping[str, Node]) -> _Nest:
    """The nodes by the segments of their names."""
    nest: _Nest = {}
    for name, node in nodes.items():
        *above, last = name.split(".")
        inner = nest
        for segment in above:
            inner = inner.setdefault(segment, {})
        inner[last] = node
    return nest


def _children(nest: _Nest) -> Iterator[tuple[str, Node]]:
    return ((name, _folded(child) if isinstance(child, dict) else child) for name, child in nest.items())


def _folded(nest: _Nest) -> Node:
    """A node whose numbered children that are alike are one Repeat."""
    names, alike = dict[str, Node](), list[tuple[Node, list[int]]]()
    for name, node in _children(nest):
        if not is_index(name):
            names[name] = node
            continue
        numbers = next((known for body, known in alike if body == node), None)
        if numbers is None:
            alike.append((node, [int(name)]))
        else:
            numbers.append(int(name))
    nodes: list[Node] = [Repeat(_indices(numbers), body) for body, numbers in alike]
    if isinstance(names.get("weight"), Tied):  # which is the node of the module, not of its weight
        nodes.append(names.pop("weight"))
    if names:
        nodes.append(Block(names))
    return nodes[0] if len(nodes) == 1 else tuple(nodes)


def _indices(numbers: list[int]) -> Indices:
    span = range(min(numbers), max(numbers) + 1)
    return Indices.of(span if len(span) == len(numbers) else numbers)


def check_sizes(values: Any, where: str) -> None:
    """Refuses numbers of layers that would take all memory before a module is built."""
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if isinstance(value, int) and "layer" in str(key) and value > MOST_LAYERS:
            raise ConfigError(
                f"{where}: {printable(str(key), 60)} is {value:,}, and transformers would build each of them; at most"
                f" {MOST_LAYERS:,} are.",
                variant="out-of-range",
                key=str(key),
                expected=MOST_LAYERS,
                observed=value,
            )
        check_sizes(value, where)


@contextmanager
def module_limit(where: str) -> Iterator[None]:
    """Stops a model that has too many modules while it is built."""
    count = 0

    def count_module(_module: Any, _name: str, _child: Any) -> None:
        nonlocal count
        count += 1
        if count > MOST_MODULES:
            raise ConfigError(
                f"{where}: it asks for more than {MOST_MODULES:,} modules, which are not built.", variant="out-of-range"
            )

    handle = import_module("torch.nn.modules.module").register_module_module_registration_hook(count_module)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what transformers prints and warns of while it builds."""
    logging = import_module("transformers.utils.logging")
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
