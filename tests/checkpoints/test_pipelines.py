"""Pipelines of diffusers: parts, verdicts, what is missing, variants, and what reports show of them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import Run
from loopback import Hub
from pipeline_repos import ENCODER, INDEX, UNET, VAE, WEIGHTS, described, pickled, pipeline, safetensors, says

import hfcount
from hfcount.checkpoints.pipeline.schedulers import refused_values
from hfcount.checkpoints.pipeline.signatures import scales
from hfcount.cli.commands import find
from hfcount.report.renderers import FORMATS, OUTPUTS

FP16 = {path: path.replace(".safetensors", ".fp16.safetensors") for path in WEIGHTS.values()}
UNET_BIN = "unet/diffusion_pytorch_model.bin"


_WORDS = ("tokenizer/tokenizer_config.json", "tokenizer/vocab.json", "tokenizer/merges.txt")


def codes(report: hfcount.Report) -> list[str]:
    return [finding.code for finding in report.findings]


def test_a_sound_pipeline_is_verified_part_by_part(tmp_path: Path) -> None:
    report = hfcount.verify(pipeline(tmp_path))
    assert report.verdict == "verified", str(report)
    parts = {part.name: (part.class_name, part.verdict) for part in report.parts or ()}
    assert parts == {
        "scheduler": ("EulerDiscreteScheduler", None),
        "text_encoder": ("CLIPTextModel", "verified"),
        "tokenizer": ("CLIPTokenizer", None),
        "unet": ("UNet2DConditionModel", "verified"),
        "vae": ("AutoencoderKL", "verified"),
    }
    assert report.parameters is not None and report.memory is not None
    total = sum(part.parameters.total or 0 for part in report.parts or () if part.parameters)
    assert (report.parameters.total, report.parameters.stored, report.memory.weights_bytes) == (total, total, 4 * total)
    assert hfcount.Report.model_validate_json(report.to_json()) == report
    assert {part["class"] for part in json.loads(report.to_json())["parts"]} >= {"AutoencoderKL"}


@pytest.mark.parametrize(
    ("make", "verdict", "code", "part"),
    [
        pytest.param({"gone": ("vae/config.json", WEIGHTS["vae"])}, "mismatch", "HF810", "vae", id="no folder"),
        pytest.param({"gone": ("unet/config.json",)}, "mismatch", "HF810", "unet", id="no config"),
        pytest.param({"gone": (WEIGHTS["unet"],)}, "mismatch", "HF810", "unet", id="no weights"),
        pytest.param(
            {"gone": ("scheduler/scheduler_config.json",)}, "mismatch", "HF810", "scheduler", id="no scheduler"
        ),
        pytest.param(
            {"after": says(INDEX, text_encoder=[None, None])}, "mismatch", "HF811", "text_encoder", id="required, null"
        ),
        pytest.param({"after": says(INDEX, vae=3)}, "mismatch", "HF811", "vae", id="required, a number"),
        pytest.param(
            {"after": says(INDEX, upscaler=["diffusers", "AutoencoderKL"])},
            "explained",
            "HF812",
            "upscaler",
            id="extra",
        ),
        pytest.param({"after": says(INDEX, _class_name="OwnPipeline")}, "unverified", "HF813", None, id="own class"),
        pytest.param(
            {"after": says(INDEX, _class_name=["pipeline", "Own"])}, "mismatch", "HF813", None, id="no own code"
        ),
        pytest.param(
            {"after": says(INDEX, _class_name=["pipeline", "Own"]), "files": {"pipeline.py": b""}},
            *("unverified", "HF813", None),
            id="own code",
        ),
        pytest.param({"after": says(INDEX, _class_name=None)}, "mismatch", "HF001", None, id="no class"),
        pytest.param({"after": says(INDEX, _class_name="VQModel")}, "mismatch", "HF813", None, id="class of a part"),
        *(
            pytest.param(
                {"after": says(INDEX, _class_name="StableDiffusionInpaintPipeline", _diffusers_version=version)},
                *("mismatch", "HF825", None),
                id=f"version {version}",
            )
            for version in (None, "new", f"1{'a' * 90}!")
        ),
        pytest.param(
            {"after": says("unet/config.json", _class_name="VQModel")}, "explained", "HF815", "unet", id="other class"
        ),
        pytest.param({"renamed": FP16}, "verified", "HF816", None, id="all in a variant"),
        pytest.param(
            {"renamed": {WEIGHTS["vae"]: FP16[WEIGHTS["vae"]]}}, "mismatch", "HF817", "vae", id="one in a variant"
        ),
        pytest.param(
            {"renamed": FP16, "files": {"vae/LICENSE": b""}}, "mismatch", "HF818", "vae", id="a name without a dot"
        ),
        pytest.param(
            {"files": {"vae/LICENSE": b"", FP16[WEIGHTS["vae"]]: safetensors({})}},
            *("explained", "HF818", "vae"),
            id="a name without a dot beside a variant",
        ),
        pytest.param(
            {"gone": (WEIGHTS["unet"],), "files": {UNET_BIN: pickled(described(UNET))}},
            *("unverified", "HF819", "unet"),
            id="pickled",
        ),
        pytest.param(
            {"gone": (WEIGHTS["unet"],), "files": {UNET_BIN: pickled(described(UNET)), FP16[WEIGHTS["unet"]]: b"x"}},
            *("unverified", "HF819", "unet"),
            id="pickled but for a variant",
        ),
        pytest.param(
            {"renamed": FP16, "files": {UNET_BIN: pickled(described(UNET))}},
            *("verified", "HF816", None),
            id="all in a variant, and one pickled besides",
        ),
        pytest.param(
            {"renamed": FP16, "files": {FP16[WEIGHTS["unet"]]: b"x", UNET_BIN: pickled(described(UNET))}},
            *("mismatch", "HF003", "unet"),
            id="a cut variant beside sound pickled weights",
        ),
        pytest.param(
            {"gone": (WEIGHTS["unet"],), "files": {f"{WEIGHTS['unet']}/": b""}},
            *("mismatch", "HF810", "unet"),
            id="a folder called like the file",
        ),
        pytest.param(
            {"after": says("text_encoder/config.json", model_type="clip")},
            *("explained", "HF815", "text_encoder"),
            id="another model_type",
        ),
    ],
)
def test_what_is_wrong_is_said_of_its_part(
    tmp_path: Path, make: dict[str, Any], verdict: str, code: str, part: str | None
) -> None:
    report = hfcount.verify(pipeline(tmp_path, **make))
    assert (report.verdict, codes(report)[0]) == (verdict, code), str(report)
    assert {*codes(report)} <= {code, "HF816"} and report.findings[0].part == part


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "value", [3, None, False, "ab", "diffusers", [], {}, ["a"], ["a", None], ["a", "b", "c"], [[], "a"]]
)
def test_an_entry_that_is_no_pair(tmp_path: Path, value: Any) -> None:
    for part, code in (("vae", "HF811"), ("safety_checker", "HF820")):
        report = hfcount.verify(pipeline(tmp_path, after=says(INDEX, **{part: value})))
        assert (report.verdict, codes(report)) == ("mismatch", [code]), str(report)
        assert part in report.findings[0].message


@pytest.mark.parametrize(
    "values",
    [
        {"safety_checker": [None]},
        {"safety_checker": [None, None, None]},
        {"safety_checker": [None, "X"]},
        {"safety_checker": 3, "_use_default_values": ["safety_checker"]},
        {"extra": 3},
        {"requires_safety_checker": ["foo", "Bar"]},
        {"tokenizer": ["transformers", "CLIPTokenizerFast"]},
        {"vae": ["diffusers", "FlashPackAutoencoderKL"]},
        {"vae": ["diffusers.models", "AutoencoderKL"]},
        {"_diffusers_version": 5},
        {"x": float("nan")},
    ],
    ids=str,
)
def test_what_diffusers_takes_in_an_index(tmp_path: Path, values: Any) -> None:
    report = hfcount.verify(pipeline(tmp_path, after=says(INDEX, **values)))
    assert (report.verdict, codes(report)) == ("verified", []), str(report)


@pytest.mark.parametrize(
    ("part", "pair", "words"),
    [
        ("vae", ["diffusers", "AutoencoderKLL"], "did you mean AutoencoderKL?"),
        ("vae", ["Diffusers", "AutoencoderKL"], "diffusers has it"),
        ("vae", ["my_vae", "Own"], "not load parts of this library"),
        ("tokenizer", ["diffusers", "CLIPTokenizer"], "transformers has it"),
        ("tokenizer", ["transformers", "AutoTokenizer"], "no such class"),
        ("text_encoder", ["transformers", "AutoModel"], "no such class"),
        ("text_encoder", ["transformers", "TFCLIPTextModel"], "no such class"),
        ("scheduler", ["transformers", "EulerDiscreteScheduler"], "diffusers has it"),
    ],
)
def test_a_class_that_there_is_not(tmp_path: Path, part: str, pair: list[str], words: str) -> None:
    report = hfcount.verify(pipeline(tmp_path, after=says(INDEX, **{part: pair})))
    finding = report.findings[0]
    assert (report.verdict, finding.code, finding.part) == ("mismatch", "HF821", part), str(report)
    assert words in finding.message
    report = hfcount.verify(pipeline(tmp_path, after=says(INDEX, _diffusers_version="9.0.0", **{part: pair})))
    assert report.verdict != "verified" and report.findings[0].severity == "note", str(report)


def test_code_of_a_part_is_not_read(tmp_path: Path) -> None:
    files = {"vae/own.py": b""}
    report = hfcount.verify(pipeline(tmp_path, after=says(INDEX, vae=["own", "OwnVAE"]), files=files))
    vae = next(one for one in report.parts or () if one.name == "vae")
    assert report.verdict == "unverified" and vae.error and "own.py" in vae.error.message


@pytest.mark.parametrize("part", ["unet", "scheduler", "tokenizer", "text_encoder"])
def test_a_part_in_the_folder_of_the_pipeline(tmp_path: Path, hub: Hub, run: Run, part: str) -> None:
    """diffusers looks there where there is no folder of the part's name, as in the first published pipelines."""
    pipeline(tmp_path / "flat")
    for path in (tmp_path / "flat" / part).iterdir():
        path.rename(tmp_path / "flat" / path.name)
    assert hfcount.verify(tmp_path / "flat").verdict == "mismatch"  # an empty folder is still one
    (tmp_path / "flat" / part).rmdir()
    whole = hfcount.verify(tmp_path / "flat")
    assert (whole.verdict, codes(whole)) == ("verified", []), str(whole)
    hub.publish("org/flat", tmp_path / "flat")
    for options in ((), ("--offline",), ("--no-cache",)):
        report = run("org/flat", *options).report
        assert (report["verdict"], report["parameters"]["total"]) == (
            "verified",
            whole.parameters and whole.parameters.total,
        )
    hub.requests.clear()
    assert run("org/flat").report["verdict"] == "verified" and len(hub.requests) == 1, hub.paths()
    run("org/flat", "--save", str(tmp_path / "saved"))
    saved = hfcount.verify("org/flat", fixtures=tmp_path / "saved")
    assert (saved.verdict, saved.parameters) == ("verified", whole.parameters)


def test_from_a_repo_all_parts_are_pickled_or_none_is(tmp_path: Path, hub: Hub, run: Run) -> None:
    unet, vae = pickled(described(UNET)), pickled(described(VAE))
    files = {"unet/diffusion_pytorch_model.bin": unet}
    hub.publish("org/one", pipeline(tmp_path / "one", gone=(WEIGHTS["unet"],), files=files))
    report = run("org/one").report
    assert (report["verdict"], [one["code"] for one in report["findings"]]) == ("mismatch", ["HF819"])
    files |= {"vae/diffusion_pytorch_model.bin": vae, "text_encoder/pytorch_model.bin": pickled(described(ENCODER))}
    hub.publish("org/all", pipeline(tmp_path / "all", gone=(*WEIGHTS.values(),), files=files))
    report = run("org/all").report
    assert (report["verdict"], report["findings"]) == ("verified", [])


def test_a_scheduler_that_cannot_be_read(tmp_path: Path) -> None:
    pipeline(tmp_path)
    (tmp_path / "scheduler/scheduler_config.json").write_text("{")
    assert codes(hfcount.verify(tmp_path)) == ["HF001"]


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"beta_schedule": "quadratic"}, "beta_schedule"),
        ({"prediction_type": "velocity"}, "prediction_type"),
        ({"timestep_spacing": None}, "timestep_spacing"),
        ({"beta_schedule": "scaled_linear", "prediction_type": "v_prediction", "timestep_spacing": "trailing"}, None),
        ({"beta_schedule": "quadratic", "trained_betas": [0.1, 0.2]}, None),
        ({"beta_schedule": "quadratic", "_use_default_values": ["beta_schedule"]}, None),
        ({"a_key_of_another": "quadratic"}, None),
    ],
)
def test_a_word_that_the_scheduler_does_not_take(values: dict[str, Any], key: str | None, tmp_path: Path) -> None:
    report = hfcount.verify(pipeline(tmp_path, after=says("scheduler/scheduler_config.json", **values)))
    assert [(finding.code, finding.key) for finding in report.findings] == ([("HF822", key)] if key else [])
    assert report.verdict == ("mismatch" if key else "verified")


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"use_karras_sigmas": "yes"}, "use_karras_sigmas"),
        ({"use_karras_sigmas": None}, "use_karras_sigmas"),
        ({"use_karras_sigmas": 1}, None),
        ({"num_train_timesteps": "1000"}, "num_train_timesteps"),
        ({"beta_start": "x"}, None),  # nor do some schedules read this
        ({"use_karras_sigmas": "yes", "_use_default_values": ["use_karras_sigmas"]}, None),
        ({"steps_offset": "x"}, None),  # which only one way to space the timesteps reads
    ],
)
def test_a_type_that_the_scheduler_does_not_take(values: dict[str, Any], key: str | None, tmp_path: Path) -> None:
    report = hfcount.verify(pipeline(tmp_path, after=says("scheduler/scheduler_config.json", **values)))
    assert [(one.code, one.key) for one in report.findings] == ([("HF822", key)] if key else [])


def test_numbers_that_the_pipeline_computes_with() -> None:
    def refused(kind: str, scheduler: str, **values: Any) -> list[tuple[str, str]]:
        return [(one.key, one.kind) for one in refused_values(scheduler, values, "scheduler_config.json", kind)]

    euler = "FlowMatchEulerDiscreteScheduler"
    assert refused("FluxPipeline", euler, max_shift=[1]) == [("max_shift", "FluxPipeline")]
    assert refused("FluxPipeline", euler, base_shift=None) == [("base_shift", "FluxPipeline")]
    assert refused("FluxPipeline", euler, max_shift=2, base_shift=True) == []
    assert refused("FluxPipeline", "DDIMScheduler", max_shift="x") == []
    assert refused("StableDiffusionPipeline", euler, max_shift="x") == []
    assert [scales(kind) for kind in ("CogVideoXPipeline", "FluxPipeline", "WanPipeline")] == [True, True, False]


@pytest.mark.parametrize(("value", "taken"), [(-1, "true"), ("no", "true"), ({}, "false"), ([1], "true")])
def test_diffusers_takes_any_value_for_a_flag(value: Any, taken: str, tmp_path: Path) -> None:
    report = hfcount.verify(pipeline(tmp_path, after=says("vae/config.json", use_quant_conv=value)))
    told = {finding.code: finding.message for finding in report.findings}
    assert f"diffusers 0.42 takes it for {taken}" in told["HF123"]
    assert (report.verdict, "HF202" in told) == ("explained", taken == "false")


def test_a_tokenizer_without_a_folder_is_built_without_words(tmp_path: Path) -> None:
    report = hfcount.verify(pipeline(tmp_path, gone=_WORDS))
    (finding,) = report.findings
    assert (finding.code, "no folder tokenizer" in finding.message) == ("HF810", True)
    assert "of special tokens alone" in finding.message


def test_transformers_reads_a_whole_file_before_an_index(tmp_path: Path) -> None:
    index = json.dumps({"metadata": {"total_size": 8}, "weight_map": {"a": "model-00001-of-00001.safetensors"}})
    path = "text_encoder/model.safetensors.index.json"
    report = hfcount.verify(pipeline(tmp_path / "a", files={path: index.encode()}))
    assert (report.verdict, [(one.code, one.severity) for one in report.findings]) == ("explained", [("HF005", "note")])
    report = hfcount.verify(pipeline(tmp_path / "b", files={path: index.encode()}, gone=(WEIGHTS["text_encoder"],)))
    assert report.verdict == "mismatch"


def test_words_go_by_the_class_that_the_index_names(tmp_path: Path) -> None:
    def solver(kind: str) -> hfcount.Report:
        index = says(INDEX, scheduler=["diffusers", kind])
        folder = tmp_path / kind
        made = pipeline(folder, index, after=says("scheduler/scheduler_config.json", solver_type="logrho"))
        return hfcount.verify(made)

    assert codes(solver("EulerDiscreteScheduler")) == []
    assert codes(solver("DEISMultistepScheduler")) == []


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        (["vocab.json", "merges.txt"], "verified"),
        (["tokenizer.json"], "verified"),
        (["spiece.model"], "verified"),
        (["special_tokens_map.json"], "mismatch"),
        ([], "mismatch"),
    ],
)
def test_a_tokenizer_needs_its_words(names: list[str], verdict: str, tmp_path: Path) -> None:
    raw = {"tokenizer.json": json.dumps({"added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}}}).encode()}
    files = {f"tokenizer/{name}": raw.get(name, b"" if name.endswith(".model") else b"{}") for name in names}
    gone = tuple(path for path in ("tokenizer/vocab.json", "tokenizer/merges.txt") if path not in files)
    report = hfcount.verify(pipeline(tmp_path, gone=gone, files=files))
    assert report.verdict == verdict
    assert codes(report) == ([] if verdict == "verified" else ["HF810"])


def test_a_tokenizer_of_bytes_has_no_words(tmp_path: Path) -> None:
    index = says(INDEX, tokenizer=["transformers", "ByT5Tokenizer"])
    assert codes(hfcount.verify(pipeline(tmp_path, index, gone=("tokenizer/vocab.json", "tokenizer/merges.txt")))) == []


@pytest.mark.parametrize(
    ("vocabulary", "added", "severity"),
    [
        ({"a": 0, "b": 59}, {}, None),
        ({"a": 0, "b": 60}, {}, "error"),
        ({"a": 0}, {"<x>": 59}, None),
        ({"a": 0}, {"<x>": 75}, "error"),
        ({"a": 0}, {"<unused75>": 75}, "note"),
    ],
)
def test_tokens_have_rows_in_the_encoder(
    vocabulary: dict[str, int], added: dict[str, int], severity: str | None, tmp_path: Path
) -> None:
    files = {"tokenizer/vocab.json": vocabulary, "tokenizer/added_tokens.json": added}
    raw = {name: json.dumps(value).encode() for name, value in files.items()}
    report = hfcount.verify(pipeline(tmp_path, files=raw))
    assert [(one.code, one.severity) for one in report.findings] == ([("HF105", severity)] if severity else [])


@pytest.mark.parametrize(
    ("path", "raw", "code"),
    [
        ("tokenizer/tokenizer_config.json", b"{", "HF824"),
        ("tokenizer/special_tokens_map.json", b"{", "HF824"),
        ("tokenizer/vocab.json", b"{", "HF824"),
        ("tokenizer/preprocessor_config.json", b"{", None),
        ("tokenizer/tokenizer_config.json", b"{}", "HF823"),
        ("tokenizer/tokenizer_config.json", b'{"max_len": 20}', None),
    ],
)
def test_a_tokenizer_that_does_not_load(path: str, raw: bytes, code: str | None, tmp_path: Path) -> None:
    """diffusers loads no pipeline with the first three; without a length it loads, and fails at its first text."""
    report = hfcount.verify(pipeline(tmp_path, files={path: raw}))
    severity, verdict = ("note", "explained") if code == "HF823" else ("error", "mismatch")
    assert [(one.code, one.severity) for one in report.findings] == ([(code, severity)] if code else [])
    assert report.verdict == (verdict if code else "verified")


@pytest.mark.parametrize(("gone", "code"), [("merges.txt", "HF129"), ("tokenizer_config.json", "HF823")])
def test_a_file_of_the_tokenizer_is_missing(gone: str, code: str, tmp_path: Path) -> None:
    assert codes(hfcount.verify(pipeline(tmp_path, gone=(f"tokenizer/{gone}",)))) == [code]


def test_a_processor_that_cannot_be_parsed(tmp_path: Path) -> None:
    index = says(INDEX, feature_extractor=["transformers", "CLIPImageProcessor"])
    files = {"feature_extractor/preprocessor_config.json": b"{"}
    (found,) = hfcount.verify(pipeline(tmp_path, index, files=files)).findings
    assert (found.code, found.severity) == ("HF824", "error")
    assert "feature_extractor: preprocessor_config.json is not JSON" in found.message


@pytest.mark.parametrize(
    ("value", "found"), [("x", ["HF814"]), (None, ["HF814"]), ([1], ["HF814"]), (0.5, []), (1, [])]
)
def test_a_vae_is_scaled_by_a_number(value: object, found: list[str], tmp_path: Path) -> None:
    made = pipeline(tmp_path, after=says("vae/config.json", scaling_factor=value))
    assert codes(hfcount.verify(made)) == found


@pytest.mark.parametrize("kind", ["PreTrainedTokenizerFast", "TokenizersBackend"])
def test_a_tokenizer_of_no_class_of_its_own(kind: str, tmp_path: Path) -> None:
    """transformers 5 saves most fast tokenizers as TokenizersBackend."""
    assert codes(hfcount.verify(pipeline(tmp_path, says(INDEX, tokenizer=["transformers", kind])))) == []


def test_a_tensor_is_missed_in_its_part(tmp_path: Path) -> None:
    shapes = described(json.loads((pipeline(tmp_path) / "vae/config.json").read_bytes()))
    gone = next(iter(shapes))
    (tmp_path / WEIGHTS["vae"]).write_bytes(safetensors({name: one for name, one in shapes.items() if name != gone}))
    report = hfcount.verify(tmp_path)
    finding = report.findings[0]
    assert (report.verdict, finding.code, finding.part) == ("mismatch", "HF201", "vae")
    assert finding.message.startswith("vae: ") and gone in finding.message
    assert finding.location and finding.location.file == "vae/config.json"
    verdicts = {part.name: part.verdict for part in report.parts or ()}
    assert (verdicts["vae"], verdicts["unet"]) == ("mismatch", "verified")


def test_tensors_that_the_library_leaves_out_are_no_error_and_further_layers_are(tmp_path: Path) -> None:
    pipeline(tmp_path)
    shapes = described(json.loads((tmp_path / "vae/config.json").read_bytes()))
    for name, verdict in (("model_ema.decay", "explained"), ("decoder.mid_block.resnets.9.conv1.bias", "mismatch")):
        (tmp_path / WEIGHTS["vae"]).write_bytes(safetensors({**shapes, name: (1,)}))
        report = hfcount.verify(tmp_path)
        assert (report.verdict, codes(report)) == (verdict, ["HF202"]), name


def test_the_index_of_a_part_counts_before_its_single_file(tmp_path: Path) -> None:
    index = {"metadata": {}, "weight_map": {"conv_in.weight": "diffusion_pytorch_model-00001-of-00002.safetensors"}}
    name = "unet/diffusion_pytorch_model.safetensors.index.json"
    report = hfcount.verify(pipeline(tmp_path, files={name: json.dumps(index).encode()}))
    assert (report.verdict, report.findings[0].part) == ("mismatch", "unet")


def test_a_part_is_still_verified_by_itself(tmp_path: Path) -> None:
    report = hfcount.verify(pipeline(tmp_path), subfolder="vae")
    assert (report.verdict, report.parts, report.architecture) == ("verified", None, "AutoencoderKL")


def test_counts_without_a_look_at_the_weights(tmp_path: Path) -> None:
    pipeline(tmp_path)
    report = hfcount.verify(tmp_path, depth="config", tensors=True, formula=True)
    assert (report.exit_code, report.depth, report.error) == (0, "config", None)
    assert report.parameters and report.parameters.total
    unet = next(part for part in report.parts or () if part.name == "unet")
    assert unet.tensors and unet.formula


def test_a_memory_that_is_too_small(tmp_path: Path) -> None:
    pipeline(tmp_path)
    assert hfcount.verify(tmp_path, memory=10**9).exit_code == 0
    report = hfcount.verify(tmp_path, memory=10**6)
    assert (report.verdict, report.exit_code, codes(report)) == ("verified", 1, ["HF602"])


def test_a_wrong_part_counts_like_any_other(tmp_path: Path) -> None:
    """Its report is false, as that of every mismatch is; all parts here are wrong, since they are zeros."""
    pipeline(tmp_path)
    shapes = described(json.loads((tmp_path / "unet/config.json").read_bytes()))
    (tmp_path / WEIGHTS["unet"]).write_bytes(safetensors(dict([*shapes.items()][1:])))
    report = hfcount.verify(tmp_path, depth="data", memory=10**6, allow=["HF201"])
    assert report.verdict == "mismatch"
    assert {row.file.partition("/")[0] for row in report.statistics or ()} == {"text_encoder", "unet", "vae"}
    assert [(one.code, one.count) for one in report.allowed] == [("HF201", 1)]
    assert "HF602" in codes(report)


def test_a_what_if_wants_one_part(tmp_path: Path) -> None:
    with pytest.raises(hfcount.BadSetting, match="--subfolder"):
        hfcount.what_ifs(pipeline(tmp_path), [{"in_channels": 8}])


@pytest.mark.long
def test_a_fix_of_each_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline(tmp_path)
    for part, prefix in (("unet", "model."), ("vae", "")):
        shapes = described(json.loads((tmp_path / part / "config.json").read_bytes()))
        (tmp_path / WEIGHTS[part]).write_bytes(safetensors({prefix + name: one for name, one in shapes.items()}))
    config = json.loads((tmp_path / "vae/config.json").read_bytes())
    (tmp_path / "vae/config.json").write_text(json.dumps({**config, "latent_channels": 8}))
    assert fix(tmp_path) == 1
    said = capsys.readouterr().out
    assert "unet: mismatch" in said and "Rename 208 tensors" in said and "latent_channels is 8" in said
    assert "text_encoder" not in said.partition("a pipeline of 3 models: mismatch")[0]
    assert "unet.in_channels is 4, and vae.latent_channels is 8" in said
    with pytest.raises(click.UsageError, match="latent_channels must begin with a part of the pipeline"):
        fix(tmp_path, "--set", "latent_channels=4")
    assert hfcount.verify(tmp_path).verdict == "mismatch"
    assert fix(tmp_path, "--write", "--set", "vae.latent_channels=4") == 0
    assert "a pipeline of 3 models: verified" in capsys.readouterr().out
    assert (hfcount.verify(tmp_path).verdict, fix(tmp_path)) == ("verified", 0)


def fix(folder: Path, *options: str) -> int:
    code = find("fix").main([str(folder), *options], standalone_mode=False)
    assert type(code) is int
    return code


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*FORMATS, "xml"])
def test_every_format_shows_a_pipeline(tmp_path: Path, name: str) -> None:
    make: Callable[..., Any] = FORMATS[name].render if name in FORMATS else lambda one: OUTPUTS[name].make(name, one)
    report = hfcount.verify(pipeline(tmp_path, gone=("vae/config.json",)), tensors=True, formula=True)
    text = make([report])
    text = text.decode() if isinstance(text, bytes) else text
    shown = ['"mismatch"'] if name == "badge" else ["unet", "HF810"]  # a badge has room for the verdict alone
    assert any(word in text for word in shown), text


def test_a_repo_is_read_at_one_commit_with_few_requests(hub: Hub, run: Run, tmp_path: Path) -> None:
    """The listing, the index of parts, and a config for each part with weights; then the listing alone."""
    hub.publish("org/pipe", pipeline(tmp_path / "pipe"))
    report = run("org/pipe", "--depth", "index").report
    assert len(hub.requests) == 3 + len(WEIGHTS), hub.paths()  # the config that most repos have is asked for at once
    assert "3 of 3 parts could not be checked" in report["error"]["message"]
    assert run("org/pipe").report["verdict"] == "verified"
    hub.requests.clear()
    assert run("org/pipe").report["verdict"] == "verified"
    assert len(hub.requests) == 1, hub.paths()
    hub.requests.clear()
    assert run("org/pipe", "--offline").report["verdict"] == "verified"
    assert hub.requests == []


def test_a_recording_says_the_same(tmp_path: Path) -> None:
    from hfcount.cli.main import main

    pipeline(tmp_path / "pipe")
    main.main([str(tmp_path / "pipe"), "--save", str(tmp_path / "saved"), "-q"], standalone_mode=False)
    report = hfcount.verify("pipe", fixtures=tmp_path / "saved")
    assert (report.verdict, report.source) == ("verified", "fixtures"), str(report)
    assert report.parameters == hfcount.verify(tmp_path / "pipe").parameters
    shutil.rmtree(tmp_path / "saved" / "pipe" / "vae")
    assert hfcount.verify("pipe", fixtures=tmp_path / "saved").verdict == "unverified"


def test_a_pipeline_without_weights_is_counted_only_where_that_is_asked(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text(json.dumps({"_class_name": "OwnPipeline"}))
    report = hfcount.verify(str(tmp_path))
    assert (report.verdict, report.exit_code, report.error and report.error.kind) == ("unverified", 3, "NotCompared")
    assert hfcount.verify(str(tmp_path), depth="config").exit_code == 0
    (tmp_path / INDEX).write_text("{")
    assert [finding.code for finding in hfcount.verify(str(tmp_path)).findings] == ["HF001"]
    assert hfcount.verify(str(tmp_path)).error is None
