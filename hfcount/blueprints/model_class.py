"""Which model a config names: by its model_type, by the class in `architectures`, or by code that the repo brings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.architectures import families
from hfcount.errors import ConfigError, UnknownClass
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import Declared, declared, knows, version
from hfcount.mapper.classes import HEAD, KnownClass, classes, is_published, known, plain, stem
from hfcount.mapper.keys_without_shape import may_bear
from hfcount.mapper.unknown_types import by_timm
from hfcount.text import printable, shown


class Naming(NamedTuple):
    """What a config says of its model's class.

    Args:
        architecture: the first class in `architectures`; "" if it names none.
        types: the model_types that this class is of, where the config's is none of them, its namesake first.
        name: the class as transformers spells it, where it is of other types or of another framework.
        framework: what the class is written for, where that is not PyTorch.
        untyped: whether the config has no model_type, and the class stands in for it.
        reading: the class of the repo's own code that reads the config all the same; "" if there is none.
        predicts: whether the class is the layers of the type that predict further tokens, without its model.
    """

    architecture: str = ""
    types: tuple[str, ...] = ()
    name: str = ""
    framework: str = ""
    untyped: bool = False
    reading: str = ""
    predicts: bool = False


_FRAMEWORKS = {"TF": "TensorFlow", "Flax": "Flax"}


def naming(c: Config) -> Naming:
    """What a config says of its model's class.

    Raises:
        UnknownClass: the class is neither one of transformers nor one that a family describes, or is spelled as nobody
            spells it.
    """
    named, model_type = c.value("architectures"), c.value("model_type")
    first = named[0] if isinstance(named, list) and named and isinstance(named[0], str) else None
    if not model_type:
        untyped = not (by_timm(c) or families.of_speculators(c))
        return Naming(first or "", untyped=untyped, reading=_auto_map(c).get("AutoConfig", ""))
    if not isinstance(model_type, str) or families.find(model_type) is None:
        return Naming()
    if first is None and named not in (None, []):
        raise _unreadable_class_error(c, named)
    return Naming() if first is None else _of_class(c, first, model_type)


def _of_class(c: Config, first: str, model_type: str) -> Naming:
    """What the first class of a config with a known model_type is; raises UnknownClass."""
    if families.predicts(first, model_type):
        return Naming(first, predicts=True)
    of_type = _is_of_type(first, model_type) or families.described(first)
    class_ = None if of_type else known(first)
    of_it = of_type or (class_ is not None and model_type in class_.types)
    if of_it and (respelled := _respelled(c, first, model_type)):
        raise _respelled_class_error(c, first, respelled)
    if of_type:
        return Naming(first)
    if class_:
        types = sorted(class_.types, key=lambda kind: plain(kind) != stem(class_.name))  # the others only share it
        return Naming(first, tuple(types), class_.name)
    for prefix, framework in _FRAMEWORKS.items():
        if first.startswith(prefix) and _is_of_type(rest := first.removeprefix(prefix), model_type):
            return Naming(first, name=rest, framework=framework)
    raise _unknown_class_error(c, first, model_type)


def custom_code_keys(c: Config, family: str, unread: Iterable[str]) -> tuple[str, ...]:
    """Keys that size a model in code that the repo brings, and that no family reads; empty where there is no such code.

    Only a family that is from transformers is another implementation than the repo's.
    """
    if not knows(family) or not any(name.startswith("AutoModel") for name in _auto_map(c)):
        return ()
    class_ = declared(family)
    read = {**class_.keys, **dict(_sizes(c.facts()))}
    return tuple(
        key for key in unread if any(not _restates(item, read) for item in _sizes(_undeclared(c, key, class_)))
    )


def custom_code_error(c: Config, keys: tuple[str, ...]) -> UnknownClass:
    """The error for keys that size a model in the repo's own code."""
    path = next(path for name, path in _auto_map(c).items() if name.startswith("AutoModel"))
    text = (
        f"auto_map takes {printable(path)} from the code that the repo brings, and config.json sizes it by keys that"
        f" {printable(c.family)} of transformers {version()} does not have: {_joined(keys)}. Its tensors are not known"
        " here."
    )
    fix = "If the weights are not of that code, remove auto_map and these keys."
    return UnknownClass(f"{c.where}: {text}", key=keys[0], observed=keys, fix=fix)


def own_part_error(c: Config, problem: ConfigError) -> UnknownClass | None:
    """The error in place of one in a nested config of another type than the class's, which the repo's own code reads.

    None where the repo brings no code, or the part is of the type that transformers has there.
    """
    name, _, inner = (problem.key or "").partition(".")
    values, path = c.value(name), next((path for key, path in _auto_map(c).items() if key.startswith("AutoModel")), "")
    kind = values.get("model_type") if isinstance(values, dict) else None
    usual = declared(str(c.value("model_type"))).part(name, None).kind
    if not path or not inner or kind is None or kind == usual or problem.code not in ("HF001", "HF101", "HF103"):
        return None
    text = (
        f"auto_map takes {printable(path)} from the code that the repo brings, and {printable(name, 60)} is of type"
        f" {printable(str(kind), 60)}, where transformers {version()} has {usual or 'another'}. Its tensors are not"
        f" known here: as that, it would be refused ({problem.text})"
    )
    return UnknownClass(f"{c.where}: {text}", key=f"{name}.model_type", observed=str(kind))


def other_type_error(c: Config, named: Naming, reason: str) -> UnknownClass:
    """The error for a class of another model_type that no family describes."""
    text = (
        f"architectures names {printable(named.architecture, 60)}, a class of model_type {named.types[0]}, and"
        f" model_type is {printable(str(c.value('model_type')), 60)}. What that class has is not known here: {reason}"
    )
    fix = "Name a class of the model_type in architectures, or correct model_type."
    return UnknownClass(f"{c.where}: {text}", key="architectures", observed=named.architecture, fix=fix)


def _unreadable_class_error(c: Config, named: object) -> UnknownClass:
    """The error for `architectures` that is no list of names."""
    given = f"starts with {shown(named[0])}" if isinstance(named, list) else f"is {shown(named)}"
    text = (
        f"architectures {given}, but must be a list of texts. transformers {version()} does not read it where a program"
        " names the class; hfcount does not know the class of the weights."
    )
    such = min(classes(str(c.value("model_type"))), key=len, default="")
    fix = f"Write the name of the class in a list, such as [{such}]." if such else None
    return UnknownClass(f"{c.where}: {text}", key="architectures", observed=shown(named), fix=fix)


def _unknown_class_error(c: Config, name: str, model_type: str) -> UnknownClass:
    path = next((path for path in _auto_map(c).values() if path.rpartition(".")[2] == name), "")
    whose = (
        f"auto_map takes it from the code that the repo brings: {printable(path)}" if path else "it is code of its own"
    )
    text = (
        f"{printable(name, 60) or 'an empty name'}, which architectures names, is no class of"
        f" {printable(model_type, 60)} that transformers {version()} or hfcount knows; {whose}. Its tensors are not"
        " known here."
    )
    ending = HEAD.search(name)
    alike = [class_ for class_ in classes(model_type) if ending and class_.endswith(ending[0])] or classes(model_type)
    such = min(alike, key=len, default="")
    fix = f"If the weights are of a known class, name that in architectures, such as {such}." if such else None
    return UnknownClass(f"{c.where}: {text}", key="architectures", observed=name, fix=fix)


def _respelled(c: Config, name: str, model_type: str) -> KnownClass | None:
    """The class of transformers that a name is in other letters, where neither the repo's code nor an engine has it so.

    Libraries look classes up by their exact names.
    """
    if name in classes(model_type) or families.described(name, model_type) or families.described(name):
        return None
    class_ = known(name)
    if class_ is None or class_.name == name or _auto_map(c) or is_published(name):
        return None
    return class_


def _respelled_class_error(c: Config, name: str, class_: KnownClass) -> UnknownClass:
    text = (
        f"{printable(name, 60)}, which architectures names, is a class of nobody that hfcount knows: transformers"
        f" {version()} has {class_.name}, and looks a class up by its exact name. Its tensors are not known here."
    )
    fix = f"If it is that class, write {class_.name} in architectures."
    return UnknownClass(f"{c.where}: {text}", key="architectures", observed=name, fix=fix)


def _is_of_type(name: str, model_type: str) -> bool:
    """Whether a class is one of a type's."""
    there = classes(model_type)
    if name in there or families.described(name, model_type):
        return True
    if any(stem(class_) == plain(model_type) for class_ in there):
        return plain(name) in map(plain, there)
    # transformers builds the type by another's classes, or has none: then the code that it was published with named it.
    alike = {plain(family) for family in families.together(model_type)}
    return stem(name) in alike or plain(name) in alike


def _auto_map(c: Config) -> dict[str, str]:
    """The classes of the repo's own code, by transformers' auto class."""
    classes = c.value("auto_map")
    return {name: path for name, path in classes.items() if isinstance(path, str)} if isinstance(classes, dict) else {}


# Words that sizes of the same thing differ by, and those that any size may have.
_SAME = {"num", "n", "number", "size", "of", "dim", "hidden", "attention"}
_SIZING = "expert|moe|head|layer|block|kv_|lora|latent|alibi"


def _sizes(values: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Numbers above 1, or lists with such, by the names of keys that size a model; 1 is what most layouts are."""
    for key, value in values.items():
        path = f"{within}.{key}"
        if isinstance(value, dict):
            yield from _sizes(value, path)
        elif re.search(_SIZING, path) and may_bear(key, value) and any(map(_above_one, _as_list(value))):
            yield path.rpartition(".")[2], value


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _above_one(value: Any) -> bool:
    return type(value) is int and value > 1


def _restates(item: tuple[str, Any], read: Mapping[str, Any]) -> bool:
    """Whether a key only says again, by a longer or shorter name, what another one says that was read."""
    words = set(item[0].split("_")) - _SAME
    alike = [set(name.split("_")) - _SAME for name, value in read.items() if value == item[1]]
    return any(words and others and (words <= others or others <= words) for others in alike)


def _undeclared(c: Config, key: str, class_: Declared) -> dict[str, Any]:
    """What is written at the path of a key, as far as transformers' class does not declare it, too."""
    first, *further = key.split(".")
    value = c.value(first)
    for step in further:
        class_, value = declared(class_.part(first, None).kind), value.get(step) if isinstance(value, dict) else None
        first = step
    if first in class_.keys or first in class_.names:
        return {}
    part = declared(class_.part(first, None).kind) if first in class_.parts else None
    if part and isinstance(value, dict):
        value = {name: inner for name, inner in value.items() if name not in (*part.keys, *part.names, *part.parts)}
    return {key: value}


def _joined(keys: tuple[str, ...]) -> str:
    shown = ", ".join(printable(key, 60) for key in keys[:5])
    return f"{shown} and {len(keys) - 5:,} more" if len(keys) > 5 else shown
