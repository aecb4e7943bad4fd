"""The settings file: where it is found, what it sets, how the report says so, and what is wrong usage."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from build import config, raw, save_tiny, shard
from conftest import Command
from defects import adapter
from sarif_pydantic import Sarif
from schema import problems, recorded

import hfcount
from hfcount.errors import SettingsError
from hfcount.fetcher import Request
from hfcount.fetcher.settings_file import SettingsFinder
from hfcount.sweeping.parts import read

PAST, FUTURE = "2001-02-03", "9998-07-06"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a sound model, and one that lacks a layer."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    save_tiny(folder / "models" / "good")
    bad = save_tiny(folder / "models" / "old" / "bad")
    (bad / "config.json").write_bytes(raw(config("llama", num_hidden_layers=4)))
    return folder


@pytest.fixture
def run(command: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command as it runs in the project."""
    monkeypatch.chdir(project)
    return command


def settings(folder: Path, text: str, name: str = "hfcount.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def waiver(code: str = "HF201", reason: str = "known", **more: str) -> str:
    pairs = {"code": code, "reason": reason, **more}
    return "{ " + ", ".join(f'{key} = "{value}"' for key, value in pairs.items()) + " }"


def allowing(*waivers: str) -> str:
    return "allow = [\n" + "".join(f"  {text},\n" for text in waivers) + "]\n"


BAD = "models/old/bad"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (allowing(waiver()), "hfcount.toml"),
        (f"[tool.hfcount]\n{allowing(waiver())}", "pyproject.toml"),
        (f'[project]\nname = "hfcount"\n\n[ tool . "hfcount" ]\n{allowing(waiver())}', "pyproject.toml"),
        ('[[tool.hfcount.allow]]\ncode = "missing-tensor"\nreason = "known"\n', "pyproject.toml"),
        ('tool.hfcount.allow = [{ code = "201", reason = "known" }]\n', "pyproject.toml"),
        (f'[[per-path]]\npath = "models/**"\n{allowing(waiver())}', "hfcount.toml"),
        (allowing(waiver(path="models/*/b?d", tensor="model.layers.{2-3}.*", until=FUTURE)), "hfcount.toml"),
        (f'allow = [{{ code = "HF201", reason = "known", until = {FUTURE} }}]', "hfcount.toml"),
    ],
)
def test_a_waiver_lets_through_as_allow_does(run: Command, project: Path, text: str, name: str) -> None:
    settings(project, text, name)
    by_file, by_option = run(BAD, "--json"), run(BAD, "--json", "--no-config", "--allow", "HF201")
    assert (by_file.code, by_option.code) == (0, 0)
    same = ("verdict", "allowed", "checks", "loaders")
    assert [by_file.report[key] for key in same] == [by_option.report[key] for key in same]
    assert by_file.report["verdict"] == "allowed"
    (waived,) = by_file.report["settings"]["waivers"]
    assert (waived["state"], waived["findings"], waived["reason"]) == ("used", 1, "known")
    assert by_file.report["findings"][0]["waived"]["file"] == name
    assert problems(recorded(), by_file.report, recorded()) == []
    assert "settings" not in by_option.report


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (allowing(waiver(path="models/*")), None),
        (allowing(waiver(path="old/**")), None),
        (f'[[per-path]]\npath = "models/good"\n{allowing(waiver())}', None),
        (allowing(waiver(tensor="model.layers.3.mlp.*")), "unused"),
        (allowing(waiver(tensor="model.layers.0*")), "unused"),
        (allowing(waiver(code="HF202")), "unused"),
        (allowing(waiver(until=PAST)), "over"),
        (f"[tool.hfcount-x]\n{allowing(waiver())}", None),
    ],
)
def test_a_waiver_of_something_else_or_that_is_over_lets_nothing_through(
    run: Command, project: Path, text: str, state: str | None
) -> None:
    settings(project, text, "hfcount.toml" if not text.startswith("[tool") else "pyproject.toml")
    report = run(BAD, "--json").report
    assert report["verdict"] == "mismatch"
    states = [row["state"] for row in report.get("settings", {}).get("waivers", [])]
    assert states == ([state] if state else [])


def test_a_waiver_that_is_over_is_told_and_one_without_a_finding_only_in_detail(run: Command, project: Path) -> None:
    settings(project, allowing(waiver(until=PAST), waiver(code="HF301", reason="elsewhere")))
    short, full = run(BAD).out, run(BAD, "--details").out
    assert f"hfcount.toml:2 no longer waives HF201, which it did until {PAST}" in " ".join(short.split())
    assert ("elsewhere" in short, "elsewhere" in full) == (False, True)
    assert "no longer waives HF201" in run("-q", BAD).out


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('allow = [\n  { reason = "build #3", code = "HF201" },\n]', {"HF201": 2}),
        ('[[allow]]\nreason = "once code = 1"\ncode = "HF201"', {"HF201": 3}),
        ('[[allow]]\nreason = """\ncode = 2\n"""\n\'code\' = "HF201"', {"HF201": 5}),
        (
            '[[per-path]]\npath = "models/**"\nallow = [{ code = "HF202", reason = "a" }]\n'
            '[[allow]]\ncode = "HF201"\nreason = "b"',
            {"HF201": 5, "HF202": 3},
        ),
        (
            '[[allow]]\ncode = "HF201"\nreason = "a"\n[[per-path]]\npath = "models/**"\n'
            '[[per-path.allow]]\nreason = "b"\ncode = "HF202"\n[[allow]]\ncode = "HF301"\nreason = "c"',
            {"HF201": 2, "HF301": 10, "HF202": 8},
        ),
        ('allow = [{ code = "HF201", reason = "a" }, { code = "HF202", reason = "b" }]', {"HF201": 1, "HF202": 1}),
    ],
)
def test_a_waiver_has_its_own_line(run: Command, project: Path, text: str, lines: dict[str, int]) -> None:
    settings(project, text)
    waivers = run(BAD, "--json").report["settings"]["waivers"]
    assert {row["code"]: row["line"] for row in waivers} == lines


def test_every_format_says_what_was_waived(run: Command, project: Path) -> None:
    settings(project, allowing(waiver(until=FUTURE)))
    said = f"1 waived by hfcount.toml: known, until {FUTURE}"
    for style in ("table", "markdown", "html"):
        assert said in run(BAD, "--format", style).out
    assert said in run("-q", BAD).out
    assert said in " ".join(run(BAD, "models/good").out.split())
    place = f"Waived by hfcount.toml:2: known, until {FUTURE}"
    assert place in run(BAD, "--format", "concise").out
    assert place.replace(":", "%3A") in run(BAD, "--format", "github").out.replace(":", "%3A")
    document = json.loads(run(BAD, "--format", "sarif").out)
    Sarif.model_validate(document)
    (result,) = document["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external", "status": "accepted", "justification": place}]
    cases = ElementTree.fromstring(run(BAD, "--format", "junit").out).iter("testcase")
    assert any(place in (case.findtext("system-out") or "") for case in cases)


def test_the_gate_and_the_hook_obey_it(run: Command, project: Path) -> None:
    settings(project, allowing(waiver()))
    assert run("gate", BAD).out.startswith(f"go: {BAD}: allowed: 1 error (HF201); 1 waived by hfcount.toml: known")
    assert [run("hook", f"{BAD}/config.json", *more).code for more in ([], ["--no-config"])] == [0, 1]


def test_the_nearest_file_is_the_only_one(run: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(project, allowing(waiver()))
    settings(project / "models", "strict = true\n")
    assert run(BAD).code == 1
    settings(project / "models", '[tool.other]\nname = "hfcount"\n', "pyproject.toml").rename(
        project / "models" / "old" / "pyproject.toml"
    )
    assert run(BAD, "--json").report["settings"]["file"] == "models/hfcount.toml"
    monkeypatch.chdir(project / "models" / "good")
    assert run("../old/bad", "--json").report["settings"]["file"] == str(project / "models" / "hfcount.toml")


CLAIM = f"[tool.hfcount]\n{allowing(waiver())}"


@pytest.mark.parametrize(
    ("place", "name", "options", "code"),
    [
        (BAD, "hfcount.toml", [BAD], 1),
        (BAD, "pyproject.toml", [BAD], 1),
        (BAD, "hfcount.toml", [f"{BAD}/model.safetensors.index.json"], 1),
        (BAD, "hfcount.toml", ["-r", "models"], 1),
        (BAD, "hfcount.toml", [BAD, "--config", f"{BAD}/hfcount.toml"], 0),
        ("models/old", "hfcount.toml", ["models/old", "--subfolder", "bad"], 1),
        ("models/old", "hfcount.toml", [BAD], 0),
        (".", "hfcount.toml", [BAD], 0),
    ],
)
def test_a_checkpoint_does_not_waive_its_own_errors(
    run: Command, project: Path, place: str, name: str, options: list[str], code: int
) -> None:
    settings(project / place, CLAIM if name == "pyproject.toml" else allowing(waiver()), name)
    assert run(*options).code == code


def test_the_current_folder_counts_even_if_it_is_a_checkpoint(
    run: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(project / BAD, allowing(waiver()))
    monkeypatch.chdir(project / BAD)
    assert [run(model).code for model in (".", str(project / BAD), "model.safetensors.index.json")] == [0, 0, 0]
    (project / "link").symlink_to(BAD)
    assert run("../../../link").code == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[tool.hfcount]\n", True),
        ("[[tool.hfcount.allow]]\n", True),
        ("[tool]\nhfcount.strict = true\n", True),
        ('[tool]\n"hfcount" = { strict = true }\n', True),
        ("tool = { hfcount = { strict = true } }\n", True),
        ("[tool.hfcount]\nstrict = \n", True),
        ("[tool.hfcount-x]\nstrict = true\n", False),
        ("[tool.hfcount_x.hfcount]\nstrict = true\n", False),
        ('[project]\ndependencies = ["hfcount"]\n[tool]\nother = { a = 1 }\n', False),
        ('[project]\ndependencies = ["hfcount"]\n[tool]\nother = \n', False),
        ('tool = "hfcount"\n', False),
        ('[project]\nreadme = """\n[tool.hfcount]\n"""\n', False),
    ],
)
def test_a_pyproject_without_the_table_is_passed_over(project: Path, text: str, found: bool) -> None:
    above = settings(project, "")
    own = settings(project / "models", text, "pyproject.toml")
    file = SettingsFinder().file_for(Request(str(project / "models" / "good")))
    assert file is not None and file.path == str(own if found else above)


@pytest.mark.parametrize("path", ["**", "*/**", "*/old/**", "??/**"])
def test_no_pattern_matches_what_is_outside_of_the_folder_of_the_file(run: Command, project: Path, path: str) -> None:
    other = settings(project / "models" / "good", allowing(waiver(path=path)), "ours.toml")
    assert run(BAD, "--config", other).code == 1
    (project / "..well" / "a").mkdir(parents=True)
    (project / BAD).rename(project / "..well" / "a" / "bad")
    assert run("..well/a/bad", "--config", settings(project, allowing(waiver(path="*/**")))).code == 0


def test_the_search_ends_at_the_home_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = settings(project.parent, "strict = true\n")
    request = Request(str(project / "models" / "good"))
    found = SettingsFinder().file_for(request)
    assert found is not None and found.path == str(above)
    monkeypatch.setenv("HOME", str(project))
    assert SettingsFinder().file_for(request) is None
    own = settings(project, "strict = true\n")
    found = SettingsFinder().file_for(request)
    assert found is not None and found.path == str(own)


def test_a_repo_takes_the_file_of_the_current_folder_by_its_name(run: Command, project: Path) -> None:
    (project / "recorded" / "org").mkdir(parents=True)
    (project / BAD).rename(project / "recorded" / "org" / "bad")
    for path, code in {"org/*": 0, "recorded/org/bad": 0, "other/*": 1}.items():
        settings(project, allowing(waiver(path=path)))
        assert run("--fixtures", "recorded", "org/bad").code == code, path


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ('for = ["transformers@4.57"]', [], {"loaders": ["transformers@4.57"]}),
        ('for = ["transformers@4.57", "transformers@4"]', [], {"loaders": ["transformers@4.57", "transformers@4"]}),
        ("strict = true", [], {"strict": True}),
        ('depth = "headers"', [], {"depth": "headers"}),
        ('for = ["vllm"]\nstrict = true', ["--for", "sglang", "--no-strict"], {"loaders": None, "strict": None}),
        ('depth = "headers"', ["--depth", "index"], {"depth": None}),
        ('strict = true\n[[per-path]]\npath = "models/*"\nstrict = false', [], {"strict": False}),
        ('[[per-path]]\npath = "."\nstrict = true', [], {"strict": None}),
    ],
)
def test_the_command_line_goes_before_the_file(
    run: Command, project: Path, text: str, options: list[str], words: dict[str, object]
) -> None:
    settings(project, text)
    report = run("models/good", "--json", *options).report
    assert {name: report["settings"][name] for name in words} == words
    if words.get("loaders"):
        assert report["read_for"] == ["transformers@4.57.1"]
    if "depth" in words:
        assert report["depth"] == (words["depth"] or "index")


def test_a_strict_file_makes_errors_of_notes(run: Command, project: Path) -> None:
    noted = ("--fixtures", "fixtures", "org/explained")
    (project.parent / "fixtures").rename(project / "fixtures")
    settings(project, "strict = true")
    assert [run(*noted, *more).code for more in ([], ["--no-strict"], ["--allow", "HF203"])] == [1, 0, 0]
    settings(project, f"strict = true\n{allowing(waiver('HF203'))}")
    result = run(*noted, "--json")
    assert (result.code, result.report["settings"]["waivers"][0]["state"]) == (0, "used")


def test_a_base_is_from_the_folder_of_the_file(run: Command, project: Path) -> None:
    config_ = adapter().write(project / "loras" / "a") / "config.json"
    config_.rename(project / "base.json")
    assert run("loras/a").code == 3
    settings(project, 'base = "base.json"')
    assert run("models/good", "loras/a", "-q").code == 0
    reports = run("models/good", "loras/a", "--json").reports
    assert [row["settings"]["base"] for row in reports] == [None, str(project / "base.json")]


@pytest.mark.parametrize("name", ["policy_preprocessor.json", "adapter_config.json", "model_index.json"])
def test_what_has_no_base_does_not_take_that_of_the_file(run: Command, project: Path, name: str) -> None:
    (project / "models" / "good" / name).write_text("{}")
    settings(project, 'base = "org/base"')
    by_file, without = run("models/good", "--json").report, run("models/good", "--json", "--no-config").report
    assert (by_file.pop("settings")["base"], by_file) == (None, without)


def test_a_lora_of_a_diffusion_model_takes_the_base_of_the_file(run: Command, project: Path) -> None:
    module = "unet.down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q"
    shapes = {f"{module}.lora_A.weight": (4, 8), f"{module}.lora_B.weight": (8, 4)}
    (project / "lora").mkdir()
    (project / "lora" / "pytorch_lora_weights.safetensors").write_bytes(shard(shapes))
    assert run("lora", "--json").report["error"]["kind"] == "BaseUnknown"
    settings(project, 'base = "models/nosuch"\n[[per-path]]\npath = "lora"\nbase = "./models/none"')
    report = run("lora", "--json").report
    assert report["settings"]["base"] == str(project / "models" / "none")
    assert (report["verdict"], report["error"]["kind"]) == ("unverified", "NoSuchFolder")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('\nalow = ["HF201"]\n', "hfcount.toml:2: alow is no key of hfcount. Did you mean allow?"),
        (allowing(waiver(), waiver(untill=PAST)), "hfcount.toml:3: untill is no key of a waiver. Did you mean until?"),
        (allowing(waiver(), '{ code = "HF301" }'), "hfcount.toml:3: a waiver needs reason"),
        (allowing(waiver(), '{ reason = "a" }', waiver()), "hfcount.toml:3: a waiver needs code"),
        ('[[allow]]\ncode = "HF201"\nreason = "a"\n\n[[allow]]\nreason = "a"', "hfcount.toml:5: a waiver needs code"),
        (allowing(waiver(reason="not # a comment"), waiver(code="HF999")), 'hfcount.toml:3: code is "HF999"'),
        ('[[per-path]]\npath = "a"\nstrict = true\n[[per-path]]\npath = "b"\nstrict = 1', "hfcount.toml:6: strict is"),
        (allowing(waiver(code="HF999")), 'hfcount.toml:2: code is "HF999"'),
        (allowing(waiver(reason=" ")), "reason is"),
        (allowing(waiver(until="soon")), "such as 2027-01-31"),
        (allowing(waiver(tensor="a.{x}.b")), "{x} is no list of numbers"),
        (allowing(waiver(path="../elsewhere")), "stays below it"),
        (allowing(waiver(path="a**/b")), "** stands for whole folders"),
        ("allow = 3", "must be a list of tables"),
        ('for = "vllm"', 'such as ["vllm"]'),
        ('for = ["nosuch"]', "no loader is called nosuch"),
        ("strict = 1", "must be true or false"),
        ('depth = "config"', "for the command line alone"),
        ("base = []", "must be a text"),
        ("[[per-path]]\nstrict = true", "hfcount.toml:1: per-path without path"),
        ("[per-path]\nstrict = true", "must be a list of tables"),
        ('[[per-path]]\npath = "a"\nper-path = []', "is no key of per-path"),
        ("strict = \n", "is not TOML"),
        ("a = " + "[" * 100_000, "is nested too deeply"),
        (f'x = "{"y" * 1_000_001}"', "is no settings file"),
    ],
)
def test_what_is_wrong_in_a_file_is_wrong_usage(run: Command, project: Path, text: str, words: str) -> None:
    settings(project, text)
    for arguments in (["models/good"], ["sweep", "out", "--tree", "models", "-q"]):
        result = run(*arguments)
        assert (result.code, words in result.err, result.err.count("\n")) == (2, True, 1)
    assert run("models/good", "--no-config").code == 0


def test_a_file_is_named_or_none_is_read(run: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(project, "strict = maybe")
    other = settings(project.parent, allowing(waiver()), "ours.toml")
    assert run(BAD, "--config", other).code == 0
    assert run(BAD, "--config", other, "--no-config").code == 2
    assert run(BAD, "--config", "nosuch.toml").code == 2
    monkeypatch.setenv("HFCOUNT_NO_CONFIG", "1")
    assert run(BAD).code == 1
    assert run(BAD, "--config", other).code == 0
    assert run("sweep", "rows", BAD, "--config", other, "-q", "--workers", "1", "--check").code == 0
    assert run("sweep", "rows", BAD, "--config", other, "--no-config").code == 2


def test_a_sweep_obeys_the_file_of_each_row(run: Command, project: Path) -> None:
    settings(project / "models" / "old", allowing(waiver()))
    (project / "models" / "new").mkdir()
    (project / "models" / "good").rename(project / "models" / "new" / "good")
    settings(project / "models" / "new", "strict = maybe")
    assert run("sweep", "out", "--tree", "models", "-q", "--workers", "1").code == 0
    rows = {row["model"]: row for row in read(project / "out")}
    assert (rows["old/bad"]["verdict"], rows["new/good"]["reason"]) == ("allowed", "SettingsError")
    assert rows["old/bad"]["message"] == "1 waived by models/old/hfcount.toml: known"
    assert run("sweep", "bare", "--tree", "models", "-q", "--workers", "1", "--no-config").code == 0
    assert {row["verdict"] for row in read(project / "bare")} == {"verified", "mismatch"}


def test_a_python_program_asks_for_it(run: Command, project: Path) -> None:
    file = settings(project, allowing(waiver()))
    assert hfcount.verify(BAD).verdict == "mismatch"
    for where in (file, "auto"):
        assert hfcount.verify(BAD, settings=where).verdict == "allowed"
    settings(project, 'strict = 3\nfor = ["vllm"]')
    with pytest.raises(SettingsError, match=r"hfcount\.toml:1: strict is 3"):
        hfcount.verify(BAD, settings="auto")
    with pytest.raises(TypeError, match="settings is 3"):
        hfcount.verify(BAD, settings=3)  # type: ignore[arg-type] - what a program without types may give
