"""Finding a family: by its file's name, and never by anything else that a config might say."""

import ast
import importlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from build import FAMILIES, config
from paths import ARCHITECTURES

import hfcount
from hfcount.architectures import families, models
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import declared
from hfcount.spec import Record


@pytest.mark.parametrize("model_type", FAMILIES)
def test_a_family_is_found_by_its_type(model_type: str) -> None:
    family = families.find(model_type)
    assert family is not None
    assert model_type in family.types


def test_every_type_is_found_and_belongs_to_one_family() -> None:
    everything = families.all_types()
    assert everything == sorted(model_type for family in families.everyone() for model_type in family.types)
    assert [one for one in everything if one not in getattr(families.find(one), "types", ())] == []


def test_every_family_says_what_it_is() -> None:
    assert [family.types for family in families.everyone() if not family.summary] == []


def _taken(path: Path) -> list[tuple[str, str]]:
    """What a module imports of single families: (family, name)."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(one.name.rpartition(".")[2], "*") for one in node.names if one.name in MODULES]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            whole = [one.name for one in node.names if f"{node.module}.{one.name}" in MODULES]
            found += [(name, "*") for name in whole]
            if node.module in MODULES:
                found += [(node.module.rpartition(".")[2], one.name) for one in node.names]
    return found


FILES = {path.stem: path for path in Path(models.__path__[0]).glob("[!_]*.py")}
MODULES = {f"{models.__name__}.{name}" for name in FILES}


def _is_record(family: str, name: str) -> bool:
    kind = getattr(importlib.import_module(f"{models.__name__}.{family}"), name, None)
    return isinstance(kind, type) and issubclass(kind, Record)


def test_a_family_takes_of_others_but_records_of_sizes_and_the_blueprint_of_one_parent() -> None:
    taken = {name: _taken(path) for name, path in FILES.items()}
    further = {name: [one for one in found if not _is_record(*one)] for name, found in taken.items()}
    parents = {name: one[0][0] for name, one in further.items() if one}
    assert parents
    assert {name: one for name, one in further.items() if one not in ([], [(parents.get(name), "blueprint")])} == {}
    assert {name: parent for name, parent in parents.items() if parent in parents} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import hfcount.architectures.models.llama",
        "from hfcount.architectures.models import llama",
        "from hfcount.architectures.models.llama import spec",
    ],
)
def test_imports_of_a_family_are_seen_in_every_form(text: str, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(text)
    assert _taken(tmp_path / "one.py")[0][0] == "llama"


SOURCES = {
    name: re.findall(r"# (?:transformers|diffusers) [\d.]+: (.+(?:(?<=,)\n# .+)*)", path.read_text())
    for name, path in FILES.items()
}


def test_every_family_cites_the_implementation_that_its_names_are_from() -> None:
    cited = r"# .*\bof (?:[\w.-]+/|[\w-]+ \d)"
    elsewhere = {name for name, path in FILES.items() if re.search(cited, path.read_text())}
    assert elsewhere
    assert {name for name, sources in SOURCES.items() if not sources} - elsewhere == set()


def test_every_file_of_the_reference_that_a_family_cites_exists() -> None:
    found = [importlib.util.find_spec(name) for name in ("transformers", "diffusers")]
    places = ("models", "")  # diffusers has some models beside the pipelines that they are parts of
    folders = [Path(one.origin).parent / place for one, place in zip(found, places, strict=True) if one and one.origin]
    if len(folders) < len(found):
        pytest.skip("no transformers and diffusers, whose files are cited: pip install '.[oracle]'")
    known = {path.name for folder in folders for path in folder.rglob("*.py")}
    cited = {name: re.split(r",\s(?:# )?", sources[0]) for name, sources in SOURCES.items() if sources}
    assert {name: files for name, files in cited.items() if not known.issuperset(files)} == {}


@pytest.mark.parametrize(
    ("model_type", "nearest"),
    [("qwen33", "qwen3"), ("lama", "llama"), ("Qwen3", "qwen3"), ("mixtrall", "mixtral"), ("QWEN3_MOE", "qwen3_moe")],
)
def test_an_unknown_type_names_the_nearest(model_type: str, nearest: str) -> None:
    with pytest.raises(UnknownArchitecture, match=rf"Nearest known: (\w+, )*{nearest}\b"):
        hfcount.blueprint(config("llama", model_type=model_type))


@pytest.mark.parametrize(
    ("model_type", "whole"),
    [
        ("gemma4_unified_audio", "gemma4_unified"),
        ("gemma4_unified_vision", "gemma4_unified"),
        ("idefics_perciever", "idefics"),
        ("sapiens2_head", "sapiens2"),
        ("vibevoice_diffusion", "vibevoice"),
    ],
)
def test_a_part_that_no_class_saves_by_itself_names_the_whole(model_type: str, whole: str) -> None:
    said = rf"only as a part of {whole}: name the config of the whole model\.$"
    with pytest.raises(UnknownArchitecture, match=said):
        hfcount.blueprint({"model_type": model_type})


@pytest.mark.parametrize(
    "model_type",
    [
        *"os sys __init__ __main__ ../x ./qwen3 qwen3.py qwen3/ .qwen3 qwen3.spec".split(),
        "hfcount.architectures.models.qwen3",
        *[
            "qwen3\n",
            " qwen3",
            "qwen3\0",
            "a" * 10_000,
            "\x1b[31mqwen3",
            "\u202eqwen3",
            "\ud800",
            "ｑwen3",
            "{0}",
            "%s",
        ],
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_hostile_type_is_merely_unknown(model_type: str) -> None:
    with pytest.raises(UnknownArchitecture) as raised:
        hfcount.blueprint(config("llama", model_type=model_type))
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 500


def test_an_unknown_type_imports_no_module() -> None:
    script = """
import difflib, sys
from hfcount import UnknownArchitecture, blueprint
from hfcount.architectures import plugins
plugins.types()
before = set(sys.modules)
for model_type in ("lama", "os", "../x", "qwen3.py", "hfcount.architectures.models.qwen3", "_spec"):
    try:
        blueprint({"model_type": model_type})
    except UnknownArchitecture:
        pass
print(*set(sys.modules) - before)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


@pytest.mark.parametrize("values", [{}, {"model_type": None}, {"model_type": ""}], ids=["absent", "null", "empty"])
def test_no_type_is_an_unknown_architecture(values: dict[str, object]) -> None:
    with pytest.raises(UnknownArchitecture, match="no model_type"):
        hfcount.blueprint(values)


@pytest.mark.parametrize("model_type", [3, True, ["llama"], {"llama": 1}], ids=repr)
def test_a_type_that_is_no_text_is_malformed(model_type: object) -> None:
    with pytest.raises(ConfigError) as raised:
        hfcount.blueprint({"model_type": model_type})
    assert raised.value.code == "HF001"


@pytest.mark.parametrize(
    ("model_type", "key", "other"),
    [("grounding-dino", "text_config", "llama"), ("voxtral", "audio_config", "gemma3n_vision")],
)
def test_a_part_that_lacks_what_the_model_takes_of_it_is_not_described(model_type: str, key: str, other: str) -> None:
    whole, part = (json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"] for name in (model_type, other))
    with pytest.raises(UnknownArchitecture, match=f"{model_type} is not described with such parts: .* of type {other}"):
        hfcount.blueprint({**whole, key: part})


def test_a_mistake_of_a_family_is_not_taken_for_an_unknown_part() -> None:
    spec = families.read(Config(json.loads((ARCHITECTURES / "t5.json").read_text())["config"]))
    assert spec.parts
    with pytest.raises(AttributeError):
        families.tree(spec.having(None))


@pytest.mark.parametrize(("model_type", "file"), [("aria_text", "aria"), ("qwen2_5_omni_dit", "qwen2_5_omni")])
def test_a_part_is_found_in_the_file_of_the_whole_and_no_other_is_opened(model_type: str, file: str) -> None:
    script = f"""
import sys
from hfcount.architectures import families
sys.addaudithook(lambda event, args: event == "open" and "models" in str(args[0]) and print(args[0]))
print(families.find({model_type!r}).summary)
"""
    lines = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    opened = {Path(line).name.partition(".")[0] for line in lines if line.startswith("/")}
    assert {name for name in opened if name in FILES} == {file}


@pytest.mark.parametrize(
    ("model_type", "name"),
    [
        ("llama", "LlamaForCausalLM"),
        ("deepseek_v3", "DeepseekV3ForCausalLM"),
        ("qwen3_moe", "Qwen3MoeForCausalLM"),
        ("gpt2", "GPT2LMHeadModel"),
        ("xlm-roberta", "XLMRobertaModel"),
        ("t5", "T5EncoderModel"),
    ],
)
def test_without_a_type_the_class_tells_it(model_type: str, name: str) -> None:
    lacking = {"architectures": [name], **declared(model_type).keys}
    assert hfcount.blueprint(lacking).rows() == hfcount.blueprint({**lacking, "model_type": model_type}).rows()
