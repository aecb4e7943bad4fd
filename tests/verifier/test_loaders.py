"""What each recorded version of transformers makes of a checkpoint, and whose verdict a report has."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from defects import FIRST, Checkpoint, stored
from paths import ARCHITECTURES, FIXTURES

import hfcount
from hfcount.formats.index import Index
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.catalogue import loader, loaders
from hfcount.verifier.loaders.loader import Checkpoint as Seen
from hfcount.verifier.rules.hf203_tied_weight_stored import TiedWeightStored
from hfcount.verifier.rules.hf209_name_differs import NameDiffers
from hfcount.verifier.rules.hf212_layout_differs import TiedAlone

NEWEST, BEFORE, OLDEST = "5.24.0", "5.23.0", "4.57.1"
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
DOTS = {
    "model_type": "dots1", "architectures": ["Dots1ForCausalLM"], "dtype": "bfloat16", "hidden_size": 32,
    "intermediate_size": 48, "moe_intermediate_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2,
    "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "vocab_size": 64, "tie_word_embeddings": False,
    "max_position_embeddings": 64, "layer_types": ["full_attention"] * 3,
}  # fmt: skip
FLAT = {"rope_type": "default", "rope_theta": 5e5}
NESTED = {kind: {"rope_type": "default", "rope_theta": 1e4} for kind in ("full_attention", "sliding_attention")}


def recorded(kind: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    return config


def outcomes(config: Mapping[str, Any], said: Mapping[str, Any] | None = None) -> dict[str, str]:
    """By version, of a checkpoint that holds what one config describes and says another."""
    tensors = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(dict(config)).tensors(stored=True)}
    report = hfcount.verify_tensors(said or config, tensors)
    return {one.version: one.outcome for one in report.loaders if one.loader == "transformers"}


ABSENT = "absent"


@pytest.mark.parametrize(
    ("kind", "changes", "newest", "oldest"),
    [
        ("qwen3", {}, "whole", "whole"),
        ("mamba2", {"rescale_prenorm_residual": True}, "differs", "whole"),
        ("qwen3", {"quantization_config": None}, "whole", "refuses"),
        ("paligemma", {}, "whole", "differs"),
        ("qwen2", {"layer_types": ABSENT, "rope_scaling": ABSENT, "rope_parameters": NESTED}, "refuses", "whole"),
        ("olmo2", {"rope_parameters": ABSENT, "rope_theta": 1e4, "rope_scaling": YARN}, "whole", "refuses"),
        ("mixtral", {"rope_parameters": ABSENT, "rope_scaling": YARN, "head_dim": None}, "refuses", "refuses"),
        ("janus_vision_model", {}, "whole", "refuses"),
        ("janus_vision_model", {"transformers_version": "4.57.1"}, "whole", "whole"),  # which loads it by its class
        # no version's auto classes know this name, which 4.57 saved, and is not recorded to load
        ("speecht5_hifigan", {"model_type": "hifigan"}, "whole", "unknown"),
        ("speecht5_hifigan", {"model_type": "hifigan", "transformers_version": "4.57.1"}, "whole", "whole"),
        # types that version 4 does not check, where it is recorded what it builds, a key that it takes nothing from,
        # and one that it checks itself
        ("llama", {"use_cache": "x"}, "refuses", "whole"),
        ("llama", {"attention_dropout": "0.1"}, "refuses", "whole"),
        ("llama", {"attention_bias": 0}, "refuses", "whole"),
        ("llama", {"hidden_size": "32"}, "refuses", "refuses"),
        ("llama", {"id2label": ["x"]}, "refuses", "refuses"),
        ("llama", {"tie_word_embeddings": "false"}, "refuses", "unknown"),
        ("llama", {"rope_scaling": {"rope_type": "default", "rope_theta": "10000"}}, "refuses", "whole"),
        ("flaubert", {"pad_token_id": 10**6}, "refuses", "whole"),  # of which version 4 builds no row for padding
        ("bert", {"pad_token_id": 10**6}, "refuses", "refuses"),
        ("pegasus_x", {"num_hidden_layers": 4}, "whole", "whole"),  # as encoder_layers is
        ("pegasus_x", {"num_hidden_layers": 4, "encoder_layers": 3}, "whole", "refuses"),
        ("vit", {"layer_norm_eps": None}, "refuses", "whole"),
        ("vit", {"encoder_stride": None}, "refuses", "unknown"),  # which one class builds a layer by
        ("vit", {"pooler_output_size": "16"}, "refuses", "unknown"),  # of which some classes build a layer
        ("t5", {"tie_encoder_decoder": True}, "whole", "unknown"),
        ("llama", {"attn_implementation": "nonsense"}, "refuses", "whole"),
        ("llama", {"problem_type": "nonsense"}, "whole", "refuses"),
        # a text is looked up in torch by version 4 whether weights are asked for in it or not, and nothing else is
        ("llama", {"dtype": "bf16"}, "refuses", "refuses"),
        ("llama", {"dtype": "torch.bfloat16"}, "refuses", "refuses"),
        ("llama", {"dtype": "int8"}, "refuses", "whole"),
        ("llama", {"dtype": 16}, "refuses", "whole"),
        ("llama", {"dtype": ["x"]}, "refuses", "refuses"),
        ("bloom", {"attn_implementation": "sdpa"}, "refuses", "whole"),
        ("bloom", {"_attn_implementation": "sdpa"}, "refuses", "refuses"),
        ("bert", {"_attn_implementation": "flash_attention_2"}, "whole", "refuses"),
        ("gemma2", {"_attn_implementation": "sdpa"}, "refuses", "whole"),
        ("bloom", {"attn_implementation": "paged|sdpa"}, "refuses", "whole"),
        ("bloom", {"_attn_implementation": "eager", "attn_implementation": "sdpa"}, "whole", "whole"),
        ("llama", {"attn_implementation": "flash_attention_2"}, "whole", "whole"),  # where its package is installed
        ("llama", {"attn_implementation": "sdpa", "output_attentions": True}, "refuses", "whole"),
        ("llama", {"_attn_implementation": "paged|eager"}, "whole", "refuses"),
        # settings without a kind, which types with positions by kind of layer, and version 4, take in their own ways
        ("gemma3_text", {"rope_scaling": 0}, "refuses", "refuses"),
        ("gemma3_text", {"rope_scaling": False}, "refuses", "refuses"),
        ("gemma3_text", {"rope_scaling": []}, "whole", "refuses"),
        ("gemma3_text", {"rope_scaling": ""}, "whole", "refuses"),
        ("gemma3_text", {"rope_scaling": {}}, "whole", "refuses"),
        ("gemma3_text", {"rope_scaling": {"factor": 2.0}}, "whole", "refuses"),
        ("llama", {"rope_scaling": 0}, "whole", "refuses"),
        ("llama", {"rope_scaling": {"factor": 2.0}}, "whole", "refuses"),
        ("gemma2", {"rope_scaling": [1]}, "refuses", "whole"),
        ("gemma2", {"rope_scaling": {}}, "whole", "refuses"),
        ("olmo3", {"rope_parameters": NESTED, "rope_scaling": {"rope_type": "default"}}, "whole", "whole"),
        ("olmo3", {"rope_parameters": FLAT, "rope_scaling": {"rope_type": "default"}}, "refuses", "whole"),
        ("dots1", {"rope_scaling": NESTED}, "refuses", "refuses"),
        ("llama", {"rope_scaling": NESTED}, "whole", "refuses"),
        ("llama", {"quantization_config": {"quant_method": "none such"}}, "whole", "whole"),
        ("clip", {"quantization_config": {}}, "whole", "refuses"),
        # classes that a version does not have, in whose place the auto classes build another, or whose own code fails
        ("llama", {"architectures": ["LLAMAForCausalLM"]}, "unknown", "unknown"),
        ("llama", {"architectures": ["NoSuchModel"]}, "unknown", "unknown"),
        ("llama", {"architectures": ["NoSuchModel"], "auto_map": {"AutoModel": "m.NoSuchModel"}}, "unknown", "unknown"),
        ("inkling_audio", {}, "refuses", "refuses"),
        ("detr", {}, "whole", "refuses"),
        ("detr", {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None}, "whole", "whole"),
    ],
)
def test_versions_differ(kind: str, changes: dict[str, Any], newest: str, oldest: str) -> None:
    config = recorded(kind)
    said = {key: value for key, value in {**config, **changes}.items() if value is not ABSENT}
    found = outcomes(config, said)
    assert (found[NEWEST], found[OLDEST]) == (newest, oldest)


@pytest.mark.parametrize(
    ("kind", "changes", "newest", "oldest"),
    [
        # a size of a part that a class may do without
        ("vivit", {"pooler_output_size": 12, "architectures": ["VivitModel"]}, "whole", "refuses"),
        ("vivit", {"pooler_output_size": 12, "architectures": ["VivitForVideoClassification"]}, "whole", "whole"),
    ],
)
def test_versions_differ_by_class(kind: str, changes: dict[str, Any], newest: str, oldest: str) -> None:
    found = outcomes(recorded(kind) | changes)
    assert (found[NEWEST], found[OLDEST]) == (newest, oldest)


@pytest.mark.parametrize(("saved", "newest"), [(True, "whole"), (False, "differs")])
def test_a_bias_that_the_newest_version_alone_has(saved: bool, newest: str) -> None:
    config = recorded("reformer") | {"architectures": ["ReformerModelWithLMHead"]}
    tensors = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(config).tensors(stored=True)}
    if not saved:
        del tensors["lm_head.decoder.bias"]
    report = hfcount.verify_tensors(config, tensors)
    found = {one.version: one.outcome for one in report.loaders if one.loader == "transformers"}
    assert found[NEWEST] == newest
    assert (found[OLDEST] == "differs") is saved  # which has but one bias


LINEAR = {"rope_type": "linear", "factor": 2.0}
YARN_ALONE = {"rope_type": "yarn", "factor": 2.0}


# The settings of a type, and what 5.23 and 4.57 take by the tables that they compute, as HF113 has it.
@pytest.mark.parametrize(
    ("kind", "settings", "differing"),
    [
        ("gemma3_text", {"rope_parameters": FLAT}, []),
        ("llama", {"rope_parameters": NESTED}, []),
        ("llama", {"rope_parameters": FLAT}, [(5e5, 1e4)]),
        ("nemotron", {"rope_theta": 5e5, "rope_scaling": LINEAR}, [("linear", "default")]),
        ("llama", {"rope_theta": 5e5, "rope_scaling": LINEAR}, []),
        (
            "llama",
            {"original_max_position_embeddings": 64, "max_position_embeddings": 128, "rope_scaling": YARN_ALONE},
            [(64, 128)],
        ),
        ("qwen3", {"rope_parameters": NESTED}, []),
    ],
)
def test_rotary_settings_that_versions_take_otherwise(
    kind: str, settings: dict[str, Any], differing: list[tuple[Any, Any]]
) -> None:
    config = {key: value for key, value in recorded(kind).items() if not key.startswith(("rope", "layer_types"))}
    found = hfcount.blueprint(config | settings).rotary_otherwise
    assert [(other.newer, other.taken) for other in found] == differing


@pytest.mark.parametrize(("width", "share", "newest"), [(7, 1.0, "refuses"), (7, 0.5, "whole"), (8, 1.0, "whole")])
def test_an_odd_width_of_heads_is_refused(width: int, share: float, newest: str) -> None:
    settings = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": share}
    config = recorded("seed_oss") | {"head_dim": width, "rope_parameters": settings}
    assert outcomes(config)[NEWEST] == newest


@pytest.mark.parametrize("key", ["to_dict", "get_text_config"])
def test_a_key_in_place_of_what_its_class_calls(key: str) -> None:
    assert set(outcomes(recorded("llama") | {key: 1}).values()) == {"refuses"}


def test_a_padding_id_is_counted_from_the_end() -> None:
    config = recorded("llama")
    assert outcomes(config | {"pad_token_id": -config["vocab_size"]})[NEWEST] == "whole"
    assert outcomes(config | {"pad_token_id": -config["vocab_size"] - 1})[NEWEST] == "refuses"


@pytest.mark.parametrize(
    ("word", "newest"), [("paged|sdpa", "whole"), ("paged|eager", "whole"), ("paged|x", "refuses")]
)
def test_attention_in_pages(word: str, newest: str) -> None:
    assert outcomes(recorded("llama") | {"attn_implementation": word})[NEWEST] == newest


def test_a_further_name_is_a_size_only_where_a_version_takes_it() -> None:
    config = recorded("deepseek_v3")
    renamed = {key: value for key, value in config.items() if key != "n_routed_experts"}
    found = outcomes(config, renamed | {"num_local_experts": config["n_routed_experts"]})
    assert found[NEWEST] == "whole"
    assert found[OLDEST] == "refuses"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["mixtral", "olmoe", "qwen2_moe"])
@pytest.mark.parametrize(
    ("lost", "outcome"),
    [
        (r"layers.1\..*experts\.1\.(w1|gate_proj)", "refuses"),  # of one expert
        (r"layers.1\..*experts\.0\.", "refuses"),
        (r"layers.1\..*experts\.\d+\.(w1|gate_proj)", "refuses"),  # which is joined with the other half
        (r"layers.1\..*experts\.\d+\.(w2|down_proj)", "differs"),
        (r"layers.1\..*experts\.", "differs"),
        (r"layers.1\..*q_proj", "differs"),
    ],
)
def test_version_5_refuses_experts_of_which_some_are_missing(kind: str, lost: str, outcome: str) -> None:
    """As 5.24 does of each, run; a layer without any expert it fills with random values."""
    config = recorded(kind)
    tensors = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(config).tensors(stored=True)}
    left = {name: value for name, value in tensors.items() if not re.search(lost, name)}
    assert len(left) < len(tensors)
    report = hfcount.verify_tensors(config, left)
    found = {one.version: one.outcome for one in report.loaders if one.loader == "transformers"}
    assert (report.verdict, found[NEWEST], found[BEFORE]) == ("mismatch", outcome, outcome)


def test_a_config_of_a_billion_layers_costs_no_more_than_what_is_stored() -> None:
    """Anything that named what is missing, layer by layer, would never come to an end."""
    config = recorded("mixtral")
    tensors = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(config).tensors(stored=True)}
    del tensors[next(name for name in tensors if "experts.1." in name)]
    report = hfcount.verify_tensors({**config, "num_hidden_layers": 2**40}, tensors)
    found = {one.version: one.outcome for one in report.loaders if one.loader == "transformers"}
    assert (report.verdict, found[NEWEST]) == ("mismatch", "refuses")


def test_heads_of_no_codebook_have_no_copies(tmp_path: Path) -> None:
    config = recorded("musicgen_melody")
    config["decoder"]["num_codebooks"] = 0
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert [found.code for found in hfcount.verify(tmp_path, depth="config").findings] == ["HF103"]


@pytest.mark.parametrize(
    ("kind", "changes", "says"),
    [
        ("llava_next", {"text_config": {"model_type": "none such"}}, "has no model_type none such"),
        ("llama", {"quantization_config": {"quant_method": "none such"}}, None),
    ],
)
def test_the_verdict_is_the_readers_where_it_knows_more(
    tmp_path: Path, kind: str, changes: dict[str, Any], says: str | None
) -> None:
    """For 5.24; for nobody in particular it stays open what a class, a type or a method is that nobody here knows."""
    config = recorded(kind)
    Checkpoint({**config, **changes}, {"model.safetensors": stored(config)}, weight_map={}).write(tmp_path / "m")
    report = hfcount.verify(str(tmp_path / "m"), loaders=["transformers@5.24"])
    read = next(one for one in report.loaders if one.version == NEWEST and one.loader == "transformers")
    expected = ("mismatch", "refuses", True) if says else ("explained", "whole", True)
    assert (report.verdict, read.outcome, (says or "") in (read.says or "")) == expected


def test_a_class_that_nobody_has_is_open(tmp_path: Path) -> None:
    """The auto classes pass over `architectures` and build a class of the type, of which nothing is known here."""
    config = recorded("llama")
    files = {"model.safetensors": stored(config)}
    Checkpoint({**config, "architectures": ["LLAMAForCausalLM"]}, files, weight_map={}).write(tmp_path / "m")
    report = hfcount.verify(str(tmp_path / "m"), loaders=["transformers@5.24"])
    read = next(one for one in report.loaders if one.version == NEWEST and one.loader == "transformers")
    assert (report.verdict, read.outcome) == ("unverified", "unknown")
    assert "has no class LLAMAForCausalLM" in (read.says or "")


def test_types_that_one_version_builds_of_anothers_class() -> None:
    config = {
        "model_type": "exaone", "architectures": ["LlamaForCausalLM"], "vocab_size": 64, "hidden_size": 32,
        "head_dim": 16, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "dtype": "bfloat16",
    }  # fmt: skip
    assert outcomes(config) == {NEWEST: "whole", BEFORE: "refuses", OLDEST: "refuses"}


def test_routers_in_float32_are_proven_by_the_index(tmp_path: Path, command: Command) -> None:
    tensors = stored(DOTS)
    routers = {name: ("F32", shape) for name, (_, shape) in tensors.items() if name.endswith(".mlp.gate.weight")}
    assert routers
    Checkpoint(DOTS, {FIRST: tensors | routers}).write(tmp_path / "m")
    for depth in ("index", "headers"):
        result = command("--json", "--strict", "--depth", depth, tmp_path / "m")
        report = result.report
        assert (report["verdict"], report["findings"]) == ("verified", []), depth


def test_the_verdict_is_that_of_the_loaders_that_are_asked_for(command: Command) -> None:
    sound = command("--json", "Qwen/Qwen3-32B", "--fixtures", FIXTURES, "--for", "transformers@4.57")
    assert (sound.code, sound.report["verdict"], sound.report["read_for"]) == (0, "verified", ["transformers@4.57.1"])
    assert next((one["version"], one["home"]) for one in sound.report["loaders"]) == (NEWEST, True)


def test_errors_of_others_are_notes_and_ones_own_are_errors(tmp_path: Path, command: Command) -> None:
    config = recorded("qwen3_moe")
    config["num_local_experts"] = config.pop("num_experts", None) or config["num_local_experts"]
    Checkpoint(config, {"model.safetensors": stored(config)}, weight_map={}).write(tmp_path / "m")
    assert command("--json", tmp_path / "m").code == 0
    other = command("--json", tmp_path / "m", "--for", "transformers@4.57")
    assert (other.code, other.report["verdict"]) == (1, "mismatch")
    finding = next(one for one in other.report["findings"] if one["severity"] == "error")
    assert finding["code"] == "HF114"
    assert "num_experts" in finding["message"]
    both = command("--json", tmp_path / "m", "--for", "transformers", "--for", "transformers@4.57")
    assert both.code == 1


def test_a_value_that_only_version_4_takes_is_counted_as_it_takes_it(tmp_path: Path, command: Command) -> None:
    config = recorded("opt")
    tensors = stored(config)
    config["num_attention_heads"] = float(config["num_attention_heads"])
    Checkpoint(config, {"model.safetensors": tensors}, weight_map={}).write(tmp_path / "m")
    newest = command("--json", tmp_path / "m")
    assert (newest.code, [one["code"] for one in newest.report["findings"]]) == (1, ["HF110"])
    older = command("--json", tmp_path / "m", "--for", "transformers@4.57")
    assert (older.code, older.report["verdict"]) == (0, "explained")
    Checkpoint(config, {"model.safetensors": dict([*tensors.items()][1:])}, weight_map={}).write(tmp_path / "less")
    assert command("--json", tmp_path / "less", "--for", "transformers@4.57").code == 1


def test_an_activation_that_version_4_has_not(tmp_path: Path, command: Command) -> None:
    config = recorded("llama") | {"hidden_act": "hardswish"}
    Checkpoint(config, {"model.safetensors": stored(config)}, weight_map={}).write(tmp_path / "m")
    assert command("--json", tmp_path / "m").code == 0
    older = command("--json", tmp_path / "m", "--for", "transformers@4.57")
    assert (older.code, "has no activation" in str(older.report["findings"])) == (1, True)


def test_a_size_that_version_4_reads_under_another_key_is_that_of_its_saves(tmp_path: Path, command: Command) -> None:
    config = recorded("vivit") | {"architectures": ["VivitModel"]}
    read_by_4 = stored(config | {"pooler_output_size": config["hidden_size"]})
    written = config | {"pooler_output_size": config["hidden_size"] + 4}
    Checkpoint(written, {"model.safetensors": read_by_4}, weight_map={}).write(tmp_path / "m")
    assert command("--json", tmp_path / "m").code == 1
    assert command("--json", tmp_path / "m", "--for", "transformers@4.57").code == 0


def test_a_loader_of_which_nothing_is_known_is_named(tmp_path: Path, command: Command) -> None:
    config = recorded("qwen3") | {"architectures": ["Qwen3ForSequenceClassification"]}
    Checkpoint(config, {"model.safetensors": stored(config)}, weight_map={}).write(tmp_path / "m")
    result = command(tmp_path / "m", "--for", "vllm")
    assert result.code == 3
    assert "hfcount does not know whether vLLM 0.33 loads all of it" in " ".join(result.out.split())


def test_the_second_line_says_who_loads_it(command: Command) -> None:
    text = command("Qwen/Qwen3-32B", "--fixtures", FIXTURES).out
    assert text.splitlines()[2].startswith("Loads whole in transformers 5.24 (its own), 5.23 and 4.57")


@pytest.mark.parametrize("name", ["foo", "transformers@3", "transformers@", "@5"])
def test_an_unknown_loader_is_refused_with_the_list(command: Command, name: str) -> None:
    if name == "transformers@":
        assert loader(name).version == NEWEST
        return
    result = command("Qwen/Qwen3-32B", "--fixtures", FIXTURES, "--for", name)
    assert result.code == 2
    assert "transformers@5.24.0" in result.err


def test_versions_are_found_by_their_beginning() -> None:
    assert loader("transformers").version == NEWEST
    assert loader("transformers@5.23").version == BEFORE
    assert loader("Transformers@v4.57.1").version == OLDEST
    assert loaders()[0].label == "transformers@5.24.0"


T5 = {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "tie_word_embeddings": True}


def listed(*names: str, values: Any = T5, findings: Sequence[Finding] = ()) -> Seen:
    """A checkpoint whose index has these names."""
    index = Index(dict.fromkeys(names, "model.safetensors"), frozenset({"model.safetensors"}), None, None)
    return Seen(form="model", values=values, findings=findings, blueprint=hfcount.blueprint(values), index=index)


def copy_of(*rows: str, alike: bool | None) -> TiedWeightStored:
    return TiedWeightStored(expected="embed.weight", observed=rows[0], parameters=8, alike=alike, tensors=rows)


@pytest.mark.parametrize("alike", [True, None])
@pytest.mark.parametrize("row", ["heads.{0-2}.weight", "heads.{0,2}.weight", "heads.2.weight"])
def test_copies_of_tied_heads_are_found_in_folded_names_and_joined_findings(alike: bool | None, row: str) -> None:
    other = NameDiffers(expected="a", observed="b", effect="whole", old=False, tensors=("heads.2.weight",))
    joined = other.replace(joined=(copy_of("other.weight", alike=not alike), copy_of(row, alike=alike)))
    for finding in (copy_of(row, alike=alike), joined):
        seen = listed("heads.2.weight", findings=[other, finding])
        assert [seen.copies("heads.2.weight"), seen.copies("heads.3.weight")] == [alike, False]


@pytest.mark.parametrize(
    ("names", "in_place"),
    [
        (["lm_head.weight"], "lm_head.weight"),
        (["lm_head.weight", "shared.weight"], None),
        (["encoder.embed_tokens.weight"], None),
    ],
)
def test_a_head_in_place_of_the_embedding_is_looked_for_among_all_tied_tensors(
    names: list[str], in_place: str | None
) -> None:
    alone = TiedAlone(expected="shared.weight", observed=names[0])
    head = listed(*names, findings=[alone]).head_in_place
    assert (head and head.name) == in_place


def test_each_tied_head_is_looked_at_for_values_that_were_not_compared() -> None:
    seen = listed("encoder.embed_tokens.weight", "lm_head.weight", findings=[copy_of("lm_head.weight", alike=None)])
    assert [head.name for head in seen.uncompared_heads()] == ["lm_head.weight"]


def test_python_programs_ask_for_loaders() -> None:
    report = hfcount.verify("Qwen/Qwen3-32B", fixtures=FIXTURES, loaders=["transformers@4.57"])
    assert (report.ok, report.read_for) == (True, ("transformers@4.57.1",))
    with pytest.raises(ValueError, match="no loader is called torch"):
        hfcount.verify("Qwen/Qwen3-32B", fixtures=FIXTURES, loaders=["torch"])
    with pytest.raises(TypeError, match="must be a list"):
        hfcount.verify("Qwen/Qwen3-32B", fixtures=FIXTURES, loaders="transformers")


def test_a_what_if_is_read_by_nobody() -> None:
    assert hfcount.what_ifs("Qwen/Qwen3-32B", [{"num_key_value_heads": 1}], fixtures=FIXTURES)[1].loaders == ()
