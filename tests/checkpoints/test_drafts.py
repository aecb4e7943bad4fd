"""Drafts: each is told by its config, in its own layout and in that of speculators, and held against its target."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from drafted import DRAFTED, TARGET, Drafted, eagle, flash, speculator, stored
from paths import ARCHITECTURES
from tables import over

import hfcount
from hfcount.verifier.rules import RULES

RECORDED = {path.stem: json.loads(path.read_text()) for path in ARCHITECTURES.glob("*.json")}


@over("name", DRAFTED)
def test_a_draft_is_held_against_its_target(name: str, tmp_path: Path) -> None:
    case = DRAFTED[name]
    folder = case.write(tmp_path / "my-model")
    report = hfcount.verify(folder, target=tmp_path / "target.json")
    assert (report.verdict, " ".join(one.code for one in report.findings)) == (case.verdict, case.codes)
    text = "\n".join(one.message for one in report.findings)
    assert all(said in text for said in case.says), text
    assert report.target == str(tmp_path / "target.json")
    assert {check.name for check in report.checks} >= {"target_vocabulary", "target_width"}
    alone = hfcount.verify(folder)
    assert (alone.verdict, alone.findings, alone.target) == ("verified", (), None)


@pytest.mark.parametrize("draft", [eagle(), flash(), eagle(architectures=["Eagle3LlamaForCausalLM"])])
def test_transformers_is_not_said_to_load_a_draft_with_the_type_of_its_target(draft: Any, tmp_path: Path) -> None:
    Drafted("verified", draft=draft).write(tmp_path / "draft")
    report = hfcount.verify(tmp_path / "draft")
    by_library = {one.loader: (one.outcome, one.home) for one in report.loaders}
    assert by_library["transformers"] == ("unknown", False)
    assert by_library["vllm"] == ("whole", True)
    asked = hfcount.verify(tmp_path / "draft", loaders=["transformers"])
    assert (asked.verdict, [one.code for one in asked.findings]) == ("unverified", ["HF114"])
    assert f"builds a plain {draft['model_type']} by its model_type and has no class" in asked.findings[0].message


def test_rotary_settings_that_differ_are_told_in_one_order(tmp_path: Path) -> None:
    folder = DRAFTED["a layer with other positions than its target's"].write(tmp_path / "draft")
    values = json.loads((folder / "config.json").read_text())
    values["transformer_layer_config"]["rope_scaling"] = {"rope_type": "linear", "factor": 2.0}
    (folder / "config.json").write_text(json.dumps(values))
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
    (tmp_path / "target.json").write_text(json.dumps(TARGET | {"rope_scaling": scaling}))
    report = hfcount.verify(folder, target=tmp_path / "target.json")
    told = [one.key for one in report.findings if one.code == "HF855"]
    assert told == ["rope_type", "factor", "rope_theta"]


def test_each_rule_of_drafts_has_a_case() -> None:
    named = {code for case in DRAFTED.values() for code in case.codes.split()}
    assert named == {code for code in RULES if "HF850" <= code <= "HF859"}


NAMED: list[tuple[str, dict[str, Any]]] = [
    ("llama_eagle3", eagle()),
    ("llama_eagle3", eagle(architectures=["LlamaForCausalLM"])),
    ("llama_eagle3", eagle(architectures=["PEagleDraftModel"])),
    ("dflash", flash()),
    ("dflash", flash(architectures=["DSparkDraftModel"])),
    ("speculators_eagle3", speculator("eagle3", draft_vocab_size=24)),
    ("speculators_mtp", speculator("mtp")),
    ("eagle", {**TARGET, "model_type": "llama", "architectures": ["LlamaForCausalLMEagle"]}),
    ("medusa", {"model_type": "medusa", "architectures": ["MedusaModel"]}),
]


@pytest.mark.parametrize(("family", "config"), NAMED)
def test_a_config_tells_which_draft_it_is(family: str, config: dict[str, Any]) -> None:
    blueprint = hfcount.blueprint(config)
    assert blueprint.spec.family == family
    assert not blueprint.unread


REFUSED: list[tuple[dict[str, Any], str]] = [
    (speculator("eagle3", norm_before_fc=True, fc_norm=True), "norm_before_fc and fc_norm are both true"),
    (speculator("eagle3", {"model_type": "gpt2"}), "llama and qwen3 alone"),
    (speculator("mtp", {"model_type": "llama"}), "mtp has layers of"),
    (speculator("mtp", num_nextn_predict_layers=2), "speculators builds one layer"),
    (speculator("dflash"), "no aux_hidden_state_layer_ids"),
    (speculator("dflash2", aux_hidden_state_layer_ids=[1], draft_vocab_size=24), "all 96 words"),
    (speculator("dflash2", aux_hidden_state_layer_ids=[1], draft_vocab_size=96, conv_group_size=5), "multiple of"),
    (
        speculator("dflash2", aux_hidden_state_layer_ids=[1], draft_vocab_size=96, conv_kernel_size=9),
        "exceeds block_size",
    ),
    (speculator("dspark", aux_hidden_state_layer_ids=[1], draft_vocab_size=96, markov_rank=0), "markov_rank is 0"),
    (speculator("swift"), "speculators_swift"),
    (flash(dflash_config={"projector_type": "other"}), "projector_type"),
    ({"model_type": "mlp_speculator", "n_predict": 1, "tie_weights": True}, "nothing to tie"),
]


@pytest.mark.parametrize(("config", "said"), REFUSED)
def test_what_no_library_builds_is_refused(config: dict[str, Any], said: str) -> None:
    with pytest.raises((hfcount.ConfigError, hfcount.UnknownArchitecture), match=said):
        hfcount.blueprint(config)


WIDE: list[tuple[dict[str, Any], str]] = [
    (eagle(hidden_size=64), "hidden_size"),
    (eagle(target_hidden_size=64), "target_hidden_size"),
    ({"model_type": "mlp_speculator", "emb_dim": 64, "vocab_size": 96}, "emb_dim"),
    ({"model_type": "medusa", "vocab_size": 96}, "hidden_size"),
]


@pytest.mark.parametrize(("draft", "key"), WIDE)
def test_the_key_of_the_width_is_the_one_that_gives_it(draft: dict[str, Any], key: str, tmp_path: Path) -> None:
    (tmp_path / "draft.json").write_text(json.dumps(draft))
    (tmp_path / "target.json").write_text(json.dumps(TARGET))
    report = hfcount.verify(tmp_path / "draft.json", target=tmp_path / "target.json")
    assert [one.key for one in report.findings if one.code == "HF850"] == [key]


def test_a_draft_of_more_words_than_its_target_cannot_run() -> None:
    (problem,) = hfcount.blueprint(eagle(draft_vocab_size=100)).problems
    assert "draft_vocab_size 100 exceeds vocab_size 96" in str(problem)


def test_tables_are_needed_where_the_draft_knows_fewer_words() -> None:
    assert {"d2t", "lm_head.weight"} <= {one.name for one in hfcount.blueprint(eagle()).tensors()}
    assert "d2t" not in {one.name for one in hfcount.blueprint(eagle(draft_vocab_size=96)).tensors()}


def test_a_layer_alone_has_no_numbers_of_the_model_around_it() -> None:
    names = {one.name for one in hfcount.blueprint(RECORDED["deepseek_nextn"]["config"]).tensors()}
    assert "model.layers.0.eh_proj.weight" in names
    assert not any(name.startswith(("model.embed_tokens", "lm_head", "model.norm")) for name in names)


NO_TARGET: list[tuple[dict[str, str], str, str]] = [
    ({"adapter_config.json": "{}"}, "", "has no config.json: name the model that this adapter is for"),
    ({"model_index.json": "{}"}, "", "has no config.json: name one model, not a pipeline"),
    ({"small-Q4_K_M.gguf": "GGUF"}, "", "has no config.json: name the model that this GGUF was converted from"),
    ({"small-Q4_K_M.gguf": "GGUF"}, "small-Q4_K_M.gguf", "name the model that this GGUF was converted from"),
    ({"model.safetensors": ""}, "model.safetensors", "name a folder, a config's own .json file or a repo"),
    ({"notes.txt": ""}, "", "has no config.json."),
    ({}, "nothing", "there is no folder or file"),
    ({"config.json": "[1]"}, "", "must hold an object"),
]


@pytest.mark.parametrize(("files", "named", "said"), NO_TARGET)
def test_what_is_no_model_by_itself_is_said_of_a_target(
    files: dict[str, str], named: str, said: str, command: Command, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    for name, text in files.items():
        (target / name).write_text(text)
    (tmp_path / "draft.json").write_text(json.dumps(eagle()))
    done = command(str(tmp_path / "draft.json"), "--target", str(target / named), "--json")
    assert done.code == 3
    assert said in json.loads(done.out)["error"]["message"]


def test_an_empty_name_of_a_target_is_said(command: Command, tmp_path: Path) -> None:
    (tmp_path / "draft.json").write_text(json.dumps(eagle()))
    done = command(str(tmp_path / "draft.json"), "--target", "", "--json")
    assert done.code == 3
    assert json.loads(done.out)["error"]["message"].startswith("The name of the base or the target is empty.")


OTHER: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (TARGET, eagle(), "is a draft itself"),
    (flash(), speculator("eagle3", draft_vocab_size=24), "is a draft itself"),
    (eagle(), {**TARGET, "architectures": ["Qwen3Model"]}, "as Qwen3Model, does not write tokens"),
    (eagle(), {**TARGET, "architectures": ["Qwen3ForSequenceClassification"]}, "does not write tokens"),
    ({"model_type": "bert"}, TARGET, "draft.json is bert, not a draft: --target needs a draft as MODEL"),
    (eagle(), RECORDED["bert"]["config"], "cannot be the target of a draft"),
    (eagle(), {"model_type": "swift"}, "hfcount does not know"),
]


@pytest.mark.parametrize(("draft", "target", "said"), OTHER)
def test_what_drafts_nothing_or_is_no_target_is_said(
    draft: dict[str, Any], target: dict[str, Any], said: str, command: Command, tmp_path: Path
) -> None:
    files = tmp_path / "draft.json", tmp_path / "target.json"
    for file, values in zip(
        files, (RECORDED["bert"]["config"] | draft if "bert" in str(draft) else draft, target), strict=True
    ):
        file.write_text(json.dumps(values))
    done = command(str(files[0]), "--target", str(files[1]), "--json")
    report = json.loads(done.out)
    assert (done.code, report["verdict"]) == (3, "unverified")
    assert said in report["error"]["message"]


def test_any_model_may_draft_by_its_words(tmp_path: Path) -> None:
    (tmp_path / "target.json").write_text(json.dumps(TARGET))
    for vocab, codes in ((96, []), (90, ["HF851"])):
        (tmp_path / "small.json").write_text(json.dumps({**TARGET, "hidden_size": 8, "vocab_size": vocab}))
        report = hfcount.verify(tmp_path / "small.json", target=tmp_path / "target.json")
        assert [one.code for one in report.findings] == codes


@pytest.mark.parametrize("name", ["chatglm", "internvl_chat", "gemma3"])
def test_a_class_that_writes_may_draft_and_be_drafted_for(name: str, tmp_path: Path) -> None:
    """Also one that is named like a base model."""
    (tmp_path / "model.json").write_text(json.dumps(RECORDED[name]["config"]))
    report = hfcount.verify(tmp_path / "model.json", target=tmp_path / "model.json")
    assert report.error is None
    assert not [one.code for one in report.findings if one.code.startswith("HF85")]


def test_a_target_of_several_parts_is_its_language_model(tmp_path: Path) -> None:
    target = RECORDED["gemma3"]["config"]
    text = target["text_config"]
    (tmp_path / "target.json").write_text(json.dumps(target))
    own = {"vocab_size": text["vocab_size"], "hidden_size": text["hidden_size"], "head_dim": 8}
    own |= {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [text["num_hidden_layers"] - 1]}}
    (tmp_path / "draft.json").write_text(json.dumps(eagle(**own)))
    report = hfcount.verify(tmp_path / "draft.json", target=tmp_path / "target.json")
    assert not [one.code for one in report.findings if one.severity == "error"]


def test_a_target_does_not_go_with_what_ifs(command: Command, tmp_path: Path) -> None:
    (tmp_path / "draft.json").write_text(json.dumps(eagle()))
    done = command(str(tmp_path / "draft.json"), "--target", "org/target", "--set", "draft_vocab_size=8")
    assert done.code == 2
    assert "--target does not go with --set and --quantize" in done.err


def test_a_draft_stores_what_it_has() -> None:
    assert "embed_tokens.weight" in stored(eagle())
