"""From a config to its blueprint: whose model it is, its family, and what other readers make of it."""

from collections.abc import Mapping
from typing import Any

from hfcount.architectures import families
from hfcount.architectures.registry import is_recorded
from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.model_class import (
    Naming,
    custom_code_error,
    custom_code_keys,
    naming,
    other_type_error,
    own_part_error,
)
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.mapper.per_layer_config import check_alike
from hfcount.spec import Spec
from hfcount.spec.tree.dims import origin
from hfcount.spec.tree.leaves import leaves
from hfcount.spec.tree.nodes import Block
from hfcount.text import printable, typed


def blueprint(config: Mapping[str, Any]) -> Blueprint:
    """The blueprint of a config.json, given as a dict.

    >>> config = {"model_type": "llama", "vocab_size": 50, "hidden_size": 8, "intermediate_size": 16,
    ...           "num_hidden_layers": 2, "num_attention_heads": 2, "tie_word_embeddings": True}
    >>> model = blueprint(config)
    >>> model.total, model.by_component["mlp"]
    (1720, Measure(total=768, active=768))
    >>> next(row for row in model.rows() if "q_proj" in row.name).name
    'model.layers.{0-1}.self_attn.q_proj.weight'
    >>> str(model.formula())
    'N·(2·d + 3·d·d_ff + 2·h·h_d·d + 2·h_kv·h_d·d) + d·(|V| + 1)'
    >>> sum(tensor.kind == "parameter" for tensor in model.tensors())
    20

    Raises:
        UnknownArchitecture: no family describes it.
        ConfigError: it lacks a key, or contradicts itself so that no model can be built; what can be built and not
            run is among the blueprint's `problems`.
        TypeError: it is not a dict with str keys.
    """
    if not isinstance(config, Mapping):
        raise TypeError(f"config is {typed(config)}, but must be a dict: the JSON object that a config.json holds.")
    for key in config:
        if not isinstance(key, str):
            raise TypeError(f"config has the key {typed(key)}, and every key must be a str.")
    model = build(Config(config))
    if model.custom_code:
        raise model.custom_code
    return model


def build(config: Config, whatever_class: bool = False) -> Blueprint:
    """The blueprint of a Config; raises as `blueprint` does, but that it is built beside code of the repo's own.

    A type that no family describes may have a recorded one.

    With `whatever_class` the class that it names says what is around the model, and not whose model it is.
    """
    named = Naming() if whatever_class else naming(config)
    try:
        config, spec, tree = _tensors(config, named)
    except ConfigError as problem:
        raise own_part_error(config, problem) or problem from None
    except UnknownArchitecture:
        if not is_recorded(config.value("model_type")):
            raise
        from hfcount.blueprints.stand_in import recorded_blueprint  # few types have none but that

        return recorded_blueprint(config)
    ignored = () if spec.vocab else ("tie_word_embeddings",)  # of a model without words there is nothing to tie
    unread = tuple(config.unread(ignored))
    keys = custom_code_keys(config, spec.family, unread)
    return _buildable(
        config,
        Blueprint(
            spec,
            tree,
            unread,
            config.taken,
            (*config.problems, *config.refused),
            config.token_ids,
            naming=named,
            other=_other(config, named),
            custom_code=custom_code_error(config, keys) if keys else None,
            ties_otherwise=config.ties_otherwise(spec.tied),
            rotary_otherwise=config.rotary_otherwise,
            moved=config.moved,
        ),
    )


def draft(config: Config, whatever_class: bool = False) -> Blueprint:
    """The blueprint that `build` makes, without what else it says of the config; raises as that does."""
    named = Naming() if whatever_class else naming(config)
    config, spec, tree = _tensors(config, named)
    return _buildable(config, Blueprint(spec, tree, naming=named, other=_other(config, named)))


def _buildable(config: Config, made: Blueprint) -> Blueprint:
    """The blueprint, if none of its tensors has a size below 0, which torch refuses.

    Raises:
        ConfigError: a tensor has one.
    """
    for leaf in made.leaves:
        if any(size < 0 for size in leaf.shape):
            size = next(size for size in leaf.shape if size < 0)
            text = f"{leaf.name} would have a size of {int(size):,} ({origin(size)}), and no tensor has less than 0."
            raise ConfigError(f"{config.where}: {text}", variant="out-of-range", observed=int(size))
    return made


def _tensors(config: Config, named: Naming) -> tuple[Config, Spec, Block]:
    """The spec and the tree of a config, and the config as it was read for these."""
    try:
        try:
            config = config.again({"architectures": None}) if named.predicts else config
            spec = families.read(config)
        except UnknownArchitecture:
            if not named.types:
                raise
            config = config.again({"architectures": None})  # the type has no class with that ending
            spec = families.read(config)
        if named.predicts:
            spec = spec.replace(head="mtp", architecture=named.architecture, uncounted=_BESIDE)
        tree = families.tree(spec)
        if named.predicts and all(leaf.presence == "spare" for leaf in leaves(tree)):
            raise _none_predicts(config, named, spec.family)
    except ZeroDivisionError:
        zeros = [problem for problem in config.problems if type(problem.observed) is int and problem.observed <= 0]
        raise (
            zeros[0] if zeros else ConfigError(f"{config.where}: a size of 0 is to be shared.", variant="not-divisible")
        ) from None
    check_alike(config)
    return config, spec, tree


_BESIDE = "its layers run beside the model that they predict further tokens for"
"""Why the cache of prediction layers alone is not known."""


def _none_predicts(config: Config, named: Naming, family: str) -> ConfigError:
    """The error for a class of prediction layers, where the config has none."""
    text = (
        f"{printable(named.architecture, 60)} is the layers of {family} that predict further tokens, and this config"
        " has none."
    )
    fix = "Name the class of the whole model in architectures, or write how many such layers there are."
    return config.error("contradiction", text, "architectures", fix, observed=named.architecture)


def _other(config: Config, named: Naming) -> dict[str, Blueprint | ConfigError]:
    """What the class would be under this config, by the first model_type that it is of and that is described.

    Raises:
        UnknownClass: none of them is.
    """
    reason = ""
    for model_type in named.types:
        try:
            return {model_type: build(config.again({"model_type": model_type, "architectures": [named.name]}))}
        except ConfigError as error:
            return {model_type: error}
        except UnknownArchitecture as error:
            reason = reason or str(error)
    if named.types:
        raise other_type_error(config, named, reason)
    return {}
