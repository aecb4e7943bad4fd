"""Architectures of installed packages: found when a type is not known here, judged the same, and errors in words."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from build import TINY, config, index, save, save_tiny, shard
from conftest import Command

import hfcount
from hfcount.architectures import plugins, registry
from hfcount.errors import BrokenPlugin

PRIVATE = config("llama", model_type="acme", architectures=["AcmeForCausalLM"])

MODULE = '''"""Acme: layers with names of their own."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer
from hfcount.spec.tree.nodes import block

MODEL_TYPES = ("acme",)


def spec(c):
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c), ffn=keys.dense(c)))


def blueprint(s):
    d = s.hidden
    return decoder(s, lambda one: block(norm=rms_norm(d), mix=gqa(d, one.attention), gate=swiglu(d, one.dense.width)))
'''

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package with a module, and entry points for it, on the path of this process."""
    before = {*sys.modules}

    def packaged(text: str = MODULE, points: str = "acme = acme_private", package: str = "acme-models") -> None:
        site = tmp_path / "site" / package
        info = site / f"{package.replace('-', '_')}-1.2.dist-info"
        info.mkdir(parents=True)
        (site / "acme_private.py").write_text(text)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[hfcount.architectures]\n{points}\n")
        monkeypatch.syspath_prepend(site)
        _forget()

    yield packaged
    for name in {*sys.modules} - before:
        if name.startswith("acme"):
            del sys.modules[name]
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    plugins._by_type.cache_clear()
    registry.find.cache_clear()


def test_a_private_type_is_judged_as_any_other(tmp_path: Path, install: Install) -> None:
    install()
    folder = save(tmp_path / "model", PRIVATE, listed := index(PRIVATE))
    (name,) = {*listed["weight_map"].values()}
    shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(PRIVATE).tensors()}
    assert "model.layers.2.mix.q_proj.weight" in shapes
    (folder / name).write_bytes(shard(shapes))
    report = hfcount.verify(folder, depth="headers")
    assert (report.verdict, report.family, report.architecture) == ("verified", "acme", "AcmeForCausalLM")
    shapes["model.layers.1.norm.weight"] = (11,)
    (folder / name).write_bytes(shard(shapes))
    assert "HF301" in [finding.code for finding in hfcount.verify(folder, depth="headers").findings]


BROKEN = {
    "not imported": (
        "import nosuchlibrary",
        "cannot be imported: ModuleNotFoundError: No module named 'nosuchlibrary'",
    ),
    "exits": ("raise SystemExit(3)", "cannot be imported: SystemExit: 3."),
    "no types": ("", "has no MODEL_TYPES."),
    "no blueprint": ("MODEL_TYPES = ('acme',)\ndef spec(c): ...", "has no blueprint."),
    "another type": (MODULE.replace('("acme",)', '("other",)'), "which its MODEL_TYPES do not have"),
    "types that are no tuple": (MODULE.replace('("acme",)', '"acme"'), "which its MODEL_TYPES do not have"),
    "spec fails": (MODULE.replace("keys.attention(c)", "keys.nosuch(c)"), "spec fails with AttributeError: "),
    "spec of nothing": (
        MODULE.replace("return keys.decoder_spec", "keys.decoder_spec"),
        "spec gives NoneType in place",
    ),
    "blueprint fails": (MODULE.replace("one.dense", "one.nosuch"), "blueprint fails with AttributeError: "),
    "blueprint of text": (f"{MODULE}\ndef blueprint(s): return 'x'\n", "blueprint gives str in place of Block"),
}
"""The module of a package that cannot be used, and what is said of it."""


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_package_is_an_error_with_words(tmp_path: Path, install: Install, name: str) -> None:
    text, words = BROKEN[name]
    install(text)
    with pytest.raises(BrokenPlugin) as raised:
        hfcount.blueprint(PRIVATE)
    assert words in str(raised.value)
    assert str(raised.value).startswith("The entry point acme of acme-models 1.2 (acme_private)")
    save(tmp_path / "model", PRIVATE)
    with pytest.raises(BrokenPlugin) as raised:
        hfcount.verify(tmp_path / "model", depth="config")
    assert (raised.value.report.verdict, raised.value.report.error.kind) == ("unverified", "BrokenPlugin")


def test_what_it_says_of_a_config_passes(install: Install) -> None:
    install()
    with pytest.raises(hfcount.HfcountError, match="hidden_size"):
        hfcount.blueprint({key: value for key, value in PRIVATE.items() if key != "hidden_size"})


def test_two_packages_for_a_type_are_refused(install: Install) -> None:
    install()
    install(MODULE, "acme = acme_other", "acme-other")
    with pytest.raises(BrokenPlugin, match=r"acme is described by acme-(models|other) 1.2 and by acme-"):
        hfcount.blueprint(PRIVATE)


def test_a_type_that_is_known_here_stays_what_it_is(install: Install) -> None:
    before = hfcount.blueprint(TINY["llama"]).rows()
    install(MODULE.replace('"acme"', '"llama"'), "llama = acme_private")
    assert hfcount.blueprint(TINY["llama"]).rows() == before


def test_a_package_whose_classes_are_named_has_no_others(install: Install) -> None:
    install(f"{MODULE}\nCLASSES = ('AcmeForCausalLM',)\n")
    assert hfcount.blueprint(PRIVATE).total
    with pytest.raises(hfcount.UnknownArchitecture, match="OtherForCausalLM"):
        hfcount.blueprint({**PRIVATE, "architectures": ["OtherForCausalLM"]})


def test_the_list_has_those_of_packages(install: Install, command: Command) -> None:
    install(MODULE, "acme = acme_private\nbad = acme_nosuch")
    shown = command("architectures").out
    tail = shown.partition("Described by installed packages, not checked here (2)\n")[2]
    assert tail.splitlines()[0] == "  acme: Acme: layers with names of their own. [acme-models 1.2]"
    assert "No module named 'acme_nosuch'" in tail
    one = command("architectures", "acme")
    assert (one.code, "acme-models 1.2 describes it" in one.out, "acme_private.py" in one.out) == (0, True, True)
    bad = command("architectures", "bad")
    assert (bad.code, bad.out, "cannot be imported" in bad.err, "Traceback" in bad.err) == (2, "", True, False)


def test_json_has_those_of_packages_as_the_text_does(install: Install, command: Command) -> None:
    install(MODULE, "acme = acme_private\nbad = acme_nosuch")
    fine, broken = command("architectures", "--json").reports[-2:]
    assert (fine["model_type"], fine["package"], fine["error"]) == ("acme", "acme-models 1.2", None)
    assert (broken["model_type"], broken["package"]) == ("bad", None)
    assert "No module named 'acme_nosuch'" in broken["error"]
    assert command("architectures", "Acme: layers", "their own", "--json").reports == [fine]
    assert command("architectures", "acme-models 1.2", "nosuch", "--json").reports == [broken]
    lines = command("architectures", "acme-models", "1.2").out.splitlines()
    found = command("architectures", "acme-models", "1.2", "--json").reports
    assert [line.partition(":")[0] for line in lines] == [row["model_type"] for row in found] == ["acme", "bad"]
    bad = command("architectures", "bad", "--json")
    assert (bad.code, bad.out, "cannot be imported" in bad.err) == (2, "", True)


_LOOKS = """
import sys, hfcount
assert hfcount.verify("m", fixtures=sys.argv[1]).verdict == "verified"
print("hfcount.architectures.plugins" in sys.modules, "importlib.metadata" in sys.modules)
"""


def test_nothing_is_looked_up_for_a_known_type(tmp_path: Path) -> None:
    save_tiny(tmp_path / "m")
    done = subprocess.run([sys.executable, "-c", _LOOKS, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
