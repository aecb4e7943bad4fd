"""What is said of two checkpoints is so: which tensors differ, how, and what files beside the weights are for."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pipeline_repos
import pytest
from build import config, raw
from loopback import Hub
from test_diff import ADAPTER, BERT, LLAMA, MOE, SINGLE, Json, asked, told, written
from test_diff_values import WIDE, W, saved, through, weights, with_one

import hfcount
from hfcount.diffing.model import Diff

__all__ = ("asked",)

NORM = "model.layers.1.input_layernorm.weight"
QUERY = "model.layers.1.self_attn.q_proj.weight"


def data(a: Path, b: Path) -> Diff:
    return hfcount.diff(a, b, depth="data")


def test_tensors_of_other_values_are_named_in_every_form(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", WIDE, W)
    found = data(a, saved(tmp_path / "b", WIDE, with_one(W, QUERY, 9.0)))
    for text in (str(found), found.to_markdown(), found.to_html(), found.to_json()):
        assert QUERY in text


def test_of_two_of_a_name_the_one_that_differs_by_more_than_a_cast_is_named(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", WIDE, W, "F32")
    found = data(a, saved(tmp_path / "b", WIDE, with_one(W, QUERY, 9.0)))
    assert found.values
    assert [(row.name, row.differing) for row in found.values.rows if row.other] == [(QUERY, 1)]


def test_the_sign_of_zero_is_no_rounding(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", WIDE, with_one(W, NORM, 0.0))
    found = data(a, saved(tmp_path / "b", WIDE, with_one(W, NORM, -0.0)))
    assert told(found) == {"finetune"}
    assert found.values
    assert found.values.through is None
    assert "only in the sign of zeros" in str(found)


def test_values_that_rounding_would_have_changed_as_well_tell_that_there_was_none(tmp_path: Path) -> None:
    """F16 makes zero of both, and one of them is as it was."""
    small = {**W, NORM: np.full_like(W[NORM], 1e-9)}
    a = saved(tmp_path / "a", WIDE, small)
    one, both = saved(tmp_path / "one", WIDE, with_one(small, NORM, 0.0)), {**small, NORM: np.zeros_like(W[NORM])}
    assert told(data(a, one)) == {"finetune"}
    assert told(data(a, saved(tmp_path / "both", WIDE, both))) == {"same-values"}


@pytest.mark.parametrize("other", [False, True])
def test_a_packed_model_is_not_said_to_be_a_where_its_matrices_were_not_compared(tmp_path: Path, other: bool) -> None:
    values = config("llama", hidden_size=64, intermediate_size=64, head_dim=16)
    a = written(tmp_path / "a", values)
    kept: dict[str, float | None] = {NORM: 0.5} if other else {}
    b = written(tmp_path / "b", values, kept)
    whole = (b / SINGLE).read_bytes()
    end = 8 + int.from_bytes(whole[:8], "little")
    header, body, packed = json.loads(whole[8:end]), b"", {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        parts = {name: ("BF16", entry["shape"], whole[end + first : end + last])}
        if len(entry["shape"]) == 2:
            rows, columns = entry["shape"]
            scales = ("BF16", [rows, columns // 32], b"\x80\x3f" * (rows * columns // 32))
            parts = {name: ("U32", [rows, columns // 8], bytes(rows * columns // 2))}
            parts |= {name.replace("weight", part): scales for part in ("scales", "biases")}
        for part, (dtype, shape, stored) in parts.items():
            packed[part] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(stored)]}
            body += stored
    text = json.dumps(packed).encode()
    (b / SINGLE).write_bytes(len(text).to_bytes(8, "little") + text + body)
    (b / "config.json").write_bytes(raw(values | {"quantization": {"group_size": 32, "bits": 4}}))
    found = data(a, b)
    assert "quantised" in told(found)
    assert "is quantised" in found.summary
    assert ("has the same values as A: 7 tensors that could be compared" in found.summary) is not other
    assert "is not quantised, while A is" in data(b, a).summary


def test_a_whole_of_another_type_is_said_to_be_of_one(tmp_path: Path) -> None:
    """By headers another model where nothing explains what differs, and by its type where something does."""
    shared = LLAMA | {"head_dim": LLAMA["hidden_size"] // LLAMA["num_attention_heads"], "tie_word_embeddings": True}
    other = written(tmp_path / "other", shared | {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]})
    found = hfcount.diff(written(tmp_path / "a", LLAMA), other)
    assert told(found) == {"another-model"}
    headless = {"architectures": ["RobertaForMaskedLM"], "model_type": "roberta"}
    found = hfcount.diff(written(tmp_path / "bert", BERT), written(tmp_path / "roberta", BERT | headless))
    assert "is of another type: roberta, while A is bert" in found.summary


def test_a_key_that_sizes_what_b_alone_has_is_one_of_tensors(tmp_path: Path) -> None:
    classes = {"architectures": ["BertForSequenceClassification"]}
    names = {str(number): f"LABEL_{number}" for number in range(5)}
    whole = BERT | classes | {"id2label": names, "label2id": {name: int(number) for number, name in names.items()}}
    found = hfcount.diff(written(tmp_path / "a", BERT), written(tmp_path / "b", whole))
    (row,) = (row for row in found.config if row.key == "num_labels")
    assert (row.effect, row.tensors) == ("tensors", ("classifier.weight", "classifier.bias"))


def test_a_merge_into_a_stack_is_told_by_its_experts(tmp_path: Path) -> None:
    """Adapters name the stack that transformers makes of experts, and checkpoints hold each of them."""
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    settings = ADAPTER | {"target_modules": ["q_proj"], "target_parameters": ["mlp.experts.gate_up_proj"]}
    (adapter / "adapter_config.json").write_bytes(raw(settings))
    names = [one.name for one in hfcount.blueprint(MOE).tensors()]
    ends = ("q_proj.weight", "gate_proj.weight", "up_proj.weight")
    merged: dict[str, float | None] = {name: 0.25 for name in names if name.endswith(ends)}
    a = written(tmp_path / "a", MOE)

    def met(change: Mapping[str, float | None], folder: str) -> bool | None:
        b = written(tmp_path / folder, MOE, change)
        found = hfcount.diff(a, b, depth="data", expect="merge", adapter=adapter)
        assert found.expectation
        return found.expectation.met

    assert met(merged, "merged") is True
    assert met(merged | {next(name for name in names if name.endswith("down_proj.weight")): 0.25}, "more") is False
    assert met({name: by for name, by in merged.items() if ".experts.3." not in name}, "less") is False


def test_what_an_adapter_saves_whole_is_told_beside_its_targets(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_bytes(raw(ADAPTER | {"modules_to_save": ["lm_head"]}))
    names = [one.name for one in hfcount.blueprint(LLAMA).tensors()]
    targets: dict[str, float | None] = {name: 0.25 for name in names if name.endswith("q_proj.weight")}
    a = written(tmp_path / "a", LLAMA)
    for more, said in (({}, "nothing else"), ({"lm_head.weight": 0.25}, "also 1 tensor")):
        b = written(tmp_path / said, LLAMA, targets | more)
        found = hfcount.diff(a, b, depth="data", expect="merge", adapter=adapter)
        assert found.expectation
        assert found.expectation.met
        assert said in found.summary


FILES = {
    "tokenizer.json": "the tokenizer",
    "vocab.txt": "the tokenizer",
    "chat_template.jinja": "the chat template",
    "generation_config.json": "generation",
    "preprocessor_config.json": "what goes in",
    "modeling_own.py": "its code",
}


@pytest.mark.parametrize(("file", "purpose"), FILES.items(), ids=FILES)
def test_files_beside_the_weights_are_told_by_what_they_are_for(tmp_path: Path, file: str, purpose: str) -> None:
    a, b = written(tmp_path / "a", LLAMA), written(tmp_path / "b", LLAMA)
    (a / file).write_bytes(b"{}")
    lacking = f"lacks A's files for {purpose} ({file})" in hfcount.diff(a, b).summary
    assert lacking is (purpose == "the chat template")
    (b / file).write_bytes(b"{ }")
    found = hfcount.diff(a, b)
    assert f"has other files than A for {purpose} ({file})" in found.summary
    assert (told(found), found.exit_code) == ({"same-values", "reading"}, 0)
    (b / file).write_bytes(b"{}")
    assert told(hfcount.diff(a, b)) == {"same-files"}


def test_modules_of_other_settings_are_not_the_same(tmp_path: Path) -> None:
    kinds = ("Transformer", "Pooling")
    modules = [
        {"idx": place, "name": str(place), "path": f"1_{kind}" * place, "type": f"sentence_transformers.models.{kind}"}
        for place, kind in enumerate(kinds)
    ]
    folders = []
    for pooling in ("cls", "mean"):
        folder = written(tmp_path / pooling, BERT)
        (folder / "modules.json").write_text(json.dumps(modules))
        (folder / "1_Pooling").mkdir()
        settings = {"word_embedding_dimension": 12, f"pooling_mode_{pooling}_tokens": True}
        (folder / "1_Pooling" / "config.json").write_bytes(raw(settings))
        folders.append(folder)
    found = hfcount.diff(*folders, depth="data", expect="same")
    assert "has other files than A for its modules (1_Pooling/config.json)" in found.summary
    assert found.expectation
    assert found.expectation.met is False
    assert hfcount.diff(folders[0], folders[0], expect="same").ok


def test_samples_of_a_sharded_repo_are_read(tmp_path: Path, hub: Hub, asked: Callable[..., Diff]) -> None:
    """Its index says which tensors there are, and not where."""
    a, b = (written(tmp_path / name, LLAMA) for name in "ab")
    whole = (b / SINGLE).read_bytes()
    end = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:end])
    names = list(header)
    files = {"model-00001-of-00002.safetensors": names[:9], "model-00002-of-00002.safetensors": names[9:]}
    for file, own in files.items():
        body, entries = b"", {}
        for name in own:
            first, last = header[name]["data_offsets"]
            entries[name] = header[name] | {"data_offsets": [len(body), len(body) + last - first]}
            body += whole[end + first : end + last]
        text = json.dumps(entries).encode()
        (b / file).write_bytes(len(text).to_bytes(8, "little") + text + body)
    (b / SINGLE).unlink()
    index: Json = {"metadata": {"total_size": len(whole) - end}}
    index["weight_map"] = {name: file for file, own in files.items() for name in own}
    (b / "model.safetensors.index.json").write_bytes(raw(index))
    hub.publish("org/a", a)
    hub.publish("org/b", b)
    found = asked("org/a", "org/b", "--sample")
    assert (found.depth, told(found)) == ("samples", {"same-values"})
    assert found.values
    assert found.values.tensors == len(names)


def test_pipelines_are_told_by_their_schedulers_settings_and_parts(tmp_path: Path) -> None:
    a = pipeline_repos.pipeline(tmp_path / "a")
    b = pipeline_repos.pipeline(tmp_path / "b")
    file = next((b / "scheduler").iterdir())
    file.write_bytes(raw(json.loads(file.read_bytes()) | {"prediction_type": "v_prediction"}))
    found = hfcount.diff(a, b)
    assert [(row.key, row.effect) for row in found.config] == [("scheduler.prediction_type", "reading")]
    assert "has other settings (scheduler.prediction_type)" in found.summary
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert "scheduler.prediction_type" in text
    (b / "tokenizer").mkdir(exist_ok=True)
    (b / "tokenizer" / "vocab.json").write_bytes(b"{ }")
    assert "in tokenizer has other files than A (tokenizer/vocab.json)" in hfcount.diff(a, b).summary


def test_what_differs_in_a_part_is_named_in_every_form(tmp_path: Path) -> None:
    a, b = pipeline_repos.pipeline(tmp_path / "a"), pipeline_repos.pipeline(tmp_path / "b")
    (file,) = (b / "vae").glob("*.safetensors")
    whole = bytearray(file.read_bytes())
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    whole[-1] ^= 1
    file.write_bytes(whole)
    last = max(header, key=lambda name: header[name]["data_offsets"][1] if name != "__metadata__" else 0)
    found = data(a, b)
    assert found.parts
    assert [row.name for row in found.parts["vae"].values.rows] == [last] if found.parts["vae"].values else False
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert last in text


def test_a_part_alone_is_held_against_the_one_of_its_class(tmp_path: Path) -> None:
    a = pipeline_repos.pipeline(tmp_path / "a")
    found = hfcount.diff(a, a / "vae")
    assert "was compared only with A's part vae;" in found.summary
    assert (told(found), found.exit_code) == ({"part", "same-files"}, 1)
    assert "part" in told(hfcount.diff(a / "vae", a))
    assert told(hfcount.diff(a, written(tmp_path / "b", LLAMA))) == {"another-model"}


# What was merged of an adapter, at how often its scale; and whether it is then, and in which words
MERGED: dict[str, tuple[int, float, Json, bool, str]] = {
    "the adapter": (1, 1.0, {}, True, "is A with the adapter merged: "),
    "of another scale": (1, 4.0, {}, True, "is A with the adapter merged at 4 times its scale: "),
    "taken away": (1, -1.0, {}, False, "the adapter was added with -1 times its scale"),
    "far above its scale": (1, 8.0, {}, False, "the adapter was added with 8 times its scale"),
    "taken away on purpose": (1, -1.0, {"scale": -1.0}, True, "is A with the adapter merged at -1 times its scale: "),
    "at another scale than was meant": (1, 1.0, {"scale": 2.0}, False, "--scale says 2"),
    "another adapter": (2, 1.0, {}, False, "not by this adapter"),
    "by rank's root": (1, 2**0.5, {"use_rslora": True}, True, "is A with the adapter merged: "),
    "that begins with a part of the base": (
        2,
        1.0,
        {"init_lora_weights": "pissa"},
        True,
        "has other values where the adapter changes A: ",
    ),
    "of a method that is not computed": (
        1,
        1.0,
        {"use_dora": True},
        True,
        "has other values where the adapter changes A: ",
    ),
}


@pytest.mark.parametrize("out", ["BF16", "F32"])
@pytest.mark.parametrize("row", MERGED.values(), ids=MERGED)
def test_what_a_merge_adds_is_the_adapter(tmp_path: Path, row: tuple[int, float, Json, bool, str], out: str) -> None:
    seed, scale, more, met, said = row
    meant = more.get("scale")
    more = {key: value for key, value in more.items() if key != "scale"}
    adapter, rank = tmp_path / "adapter", 2
    adapter.mkdir()
    settings = ADAPTER | {"r": rank, "lora_alpha": 4, "target_modules": ["q_proj", "up_proj"]} | more
    (adapter / "adapter_config.json").write_bytes(raw(settings))
    targets = [name for name in W if name.endswith(("q_proj.weight", "up_proj.weight"))]
    merged, header, body = dict(W), {}, b""
    for number, name in enumerate(targets):
        pairs = []
        for random in (np.random.default_rng([1, number]), np.random.default_rng([seed, number])):
            shapes = (rank, W[name].shape[1]), (W[name].shape[0], rank)
            pairs.append([random.standard_normal(shape).astype(np.float32) / np.float32(8) for shape in shapes])
        (first, second), (other, another) = pairs
        merged[name] = (W[name] + another @ other * np.float32(scale * 4 / rank)).astype(np.float32)
        for part, array in (("A", first), ("B", second)):
            path = f"base_model.model.{name.removesuffix('weight')}lora_{part}.weight"
            header[path] = {"dtype": "F32", "shape": array.shape, "data_offsets": [len(body), len(body) + array.nbytes]}
            body += array.tobytes()
    text = json.dumps(header).encode()
    (adapter / "adapter_model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + body)
    a, b = saved(tmp_path / "a", WIDE, W, "F32"), saved(tmp_path / "b", WIDE, merged, out)
    found = hfcount.diff(a, b, depth="data", expect="merge", adapter=adapter, scale=meant)
    assert found.expectation
    assert found.expectation.met is met
    assert said in (found.summary if met else found.expectation.reason)


OWN = (  # names of transformers, and Mistral's
    ("model.embed_tokens", "tok_embeddings"),
    ("lm_head", "output"),
    ("post_attention_layernorm", "ffn_norm"),
    ("input_layernorm", "attention_norm"),
    ("self_attn", "attention"),
    ("mlp.gate_proj", "feed_forward.w1"),
    ("mlp.down_proj", "feed_forward.w2"),
    ("mlp.up_proj", "feed_forward.w3"),
    *((f"{one}_proj", f"w{one}") for one in "qkvo"),
    ("model.", ""),
)


@pytest.mark.parametrize("how", ["as it is", "another value", "rows as in transformers"])
def test_mistral_s_own_layout_is_another_spelling(tmp_path: Path, how: str) -> None:
    """As its converter writes the first: rows of queries and keys in pairs become halves of a head."""
    values = {**WIDE, "model_type": "mistral", "architectures": ["MistralForCausalLM"]}
    heads, kv, size = values["num_attention_heads"], values["num_key_value_heads"], values["head_dim"]
    a = saved(tmp_path / "a", values, W)
    arrays = {}
    for name, one in W.items():
        own = name
        for ours, theirs in OWN:
            own = own.replace(ours, theirs)
        count = heads if ".wq." in own else kv if ".wk." in own else 0
        if count and how != "rows as in transformers":
            one = one.reshape(count, 2, size // 2, -1).swapaxes(1, 2).reshape(one.shape)
        arrays[own] = np.ascontiguousarray(one)
    if how == "another value":
        arrays["layers.1.attention.wq.weight"].flat[9] = 9.0
    b = saved(tmp_path / "b", values, arrays)
    (b / SINGLE).rename(b / "consolidated.safetensors")
    (b / "config.json").unlink()
    params = {"dim": values["hidden_size"], "n_layers": values["num_hidden_layers"], "head_dim": size, "norm_eps": 1e-6}
    params |= {"hidden_dim": values["intermediate_size"], "n_heads": heads, "n_kv_heads": kv, "rope_theta": 1e4}
    (b / "params.json").write_bytes(raw(params | {"vocab_size": values["vocab_size"]}))
    for sides in ((a, b), (b, a)):
        found = data(*sides)
        assert found.same_structure
        assert told(found) == {"spelling", "same-values" if how == "as it is" else "finetune"}
        assert found.values
        rows = {row.name for row in found.values.rows}
        queries, keys = (f"model.layers.{{0-2}}.self_attn.{one}_proj.weight" for one in "qk")
        assert rows == {"as it is": set(), "another value": {QUERY}, "rows as in transformers": {queries, keys}}[how]
    sampled = hfcount.diff(a, b, sample=True).values
    assert sampled
    assert (sampled.identical, sampled.uncompared) == (len(W) - 6, 6)


def test_tensors_of_other_names_are_no_other_model_where_the_configs_are_of_one(tmp_path: Path) -> None:
    """As of a writer that packs matrices in a way that is not known."""
    a = saved(tmp_path / "a", WIDE, W)
    packed = {name.replace(".weight", ".weight._data") if one.ndim > 1 else name: one for name, one in W.items()}
    found = data(a, saved(tmp_path / "b", WIDE, packed))
    matrices = sum(one.ndim > 1 for one in W.values()) - 1  # the head is told apart
    assert told(found) >= {"tensors"}
    assert "another-model" not in told(found)
    assert f"lacks {matrices} tensors of A" in found.summary


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtypes", [("BF16", "BF16"), ("F32", "BF16"), ("BF16", "F32")])
def test_the_first_of_other_elements_is_located(tmp_path: Path, dtypes: tuple[str, str]) -> None:
    """Beyond what is compared at once, and in tensors of any file."""
    values = {**WIDE, "vocab_size": 12_000}
    arrays = weights(values)
    name = "model.embed_tokens.weight"
    rounded = through(arrays, "BF16")
    for number in (0, 20_000, arrays[name].size - 1):
        other = {**rounded, name: rounded[name].copy()}
        other[name].flat[number:] = 9.0
        a = saved(tmp_path / f"{number} a", values, rounded, dtypes[0])
        found = data(a, saved(tmp_path / f"{number} b", values, other, dtypes[1])).values
        assert found
        (row,) = found.rows
        width = values["hidden_size"]
        assert (row.name, row.first, row.elements) == (name, divmod(number, width), arrays[name].size - number)


def test_elements_are_counted_where_they_are_few(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", WIDE, W)
    found = data(a, saved(tmp_path / "b", WIDE, with_one(W, QUERY, 9.0)))
    assert "in the element [0, 5], by" in str(found).replace("\n  ", " ")
