"""Which model a config names: classes of the type, of other types, of nobody, and code that the repo brings."""

import json

import pytest
from build import Json, config, recorded
from defects import sharded

import hfcount
from hfcount.blueprints.build import build
from hfcount.errors import UnknownArchitecture, UnknownClass
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import version
from hfcount.mapper.classes import classes, known, prefix, stem


def found(values: Json) -> list[tuple[str, str]]:
    """The findings about classes, with their severities, where exactly what the config describes is stored."""
    told = {**values, "dtype": "bfloat16"}
    tensors = {one.name: (one.shape, "BF16") for one in build(Config(told)).tensors()}
    report = hfcount.verify_tensors(told, tensors)
    return [(one.code, one.severity) for one in report.findings if one.code in ("HF107", "HF108", "HF109")]


# The config, and how severe it is that it names this class; None where that is nothing to tell.
NAMED: dict[str, tuple[Json, str | None]] = {
    "its own": (config("llama"), None),
    "its own, as an engine spells it": (config("llama", architectures=["LLaMAForCausalLM"]), None),
    "its own, as the code of the repo spells it": (
        config("llama", architectures=["LLAMAForCausalLM"], auto_map={"AutoModel": "modeling.LLAMAForCausalLM"}),
        None,
    ),
    "its own, another head": (config("llama", architectures=["LlamaForSequenceClassification"]), None),
    "none": (config("llama", architectures=[]), None),
    "null": (config("llama", architectures=None), None),
    "several": (config("llama", architectures=["LlamaForCausalLM", "FooForCausalLM"]), None),
    "shared by types": (recorded("gpt2", model_type="gpt-sw3"), None),
    "of the type that it is like": (recorded("deepseek_v3", model_type="kimi_k2"), None),
    "a type without classes": (recorded("deepseek_vl_v2_text"), None),
    "a type that transformers does not have": (recorded("baichuan", architectures=["BaiChuanForCausalLM"]), None),
    "named after a type that another's classes build": (
        recorded("llama", model_type="internlm3", architectures=["InternLM3ForCausalLM"]),
        None,
    ),
    "an older name": (recorded("t5", architectures=["T5WithLMHeadModel"]), None),
    "an older name of a vision type": (recorded("intern_vit_6b"), None),
    "the same tensors": (config("mistral", architectures=["LlamaForCausalLM"]), "note"),
    "the same tensors, another head": (config("llama", architectures=["MistralForTokenClassification"]), "note"),
    "TensorFlow's": (recorded("bert", architectures=["TFBertForMaskedLM"]), "note"),
    "others": (config("llama", architectures=["DeepseekV3ForCausalLM"]), "error"),
    "others, in other letters": (config("llama", architectures=["DeepSeekV3ForCausalLM"]), "error"),
    "others of another kind": (config("llama", architectures=["BertForMaskedLM"]), "error"),
    "others by biases": (config("llama", architectures=["Qwen2ForCausalLM"]), "error"),
    "others by norms": (recorded("gemma2", architectures=["GemmaForCausalLM"]), "error"),
    "others by names": (recorded("roberta", architectures=["BertForMaskedLM"]), "error"),
    "others around it": (config("llama", architectures=["LlavaForConditionalGeneration"]), "error"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_class_of_another_type(name: str) -> None:
    values, severity = NAMED[name]
    assert found(values) == ([("HF107", severity)] if severity else [])


NOBODY = [
    ("llama", "lLamaForCausalLM"),
    ("vision-text-dual-encoder", "visiontextdualencodermodel"),
    ("llama", "llamaForCausalLM"),
    ("llama", "Llama_ForCausalLM"),
    ("llama", "FooForCausalLM"),
    ("llama", "NoSuchModel"),
    ("llama", "LlamaForRewardModel"),
    ("llama", "HydraDraftModel"),
    ("llama", "Model"),
    ("llama", ""),
    ("llama", "x" * 5000),
    ("llama", "\x1b[31mForCausalLM"),
    ("llama", 'LlamaModel",\n"llama4": "Llama4ForCausalLM'),
    ("qwen3", "HydraDraftModel"),
    ("baichuan", "QwertyForCausalLM"),
]


@pytest.mark.parametrize(("model_type", "name"), NOBODY, ids=lambda one: repr(one)[:30])
def test_a_class_that_nobody_has_is_not_counted(model_type: str, name: str) -> None:
    values = recorded(model_type, architectures=[name])
    with pytest.raises(UnknownArchitecture) as raised:
        hfcount.blueprint(values)
    assert (type(raised.value), str(raised.value).isprintable()) == (UnknownClass, True)
    report = hfcount.verify_tensors(values, {})
    assert (report.verdict, report.exit_code, report.parameters) == ("unverified", 3, None)
    assert [one.code for one in report.findings] == ["HF109"]
    assert len(report.findings[0].message) < 700


@pytest.mark.parametrize(
    ("keys", "doubted"),
    [
        ({}, False),
        ({"moe_layer_freq": 1}, False),
        ({"rotary_range": 64}, False),
        ({"use_heads": True}, False),
        ({"attention_head_dim": 6}, False),  # as head_dim says
        ({"num_experts": 8}, True),
        ({"moe_every_n_layers": 2}, True),
        ({"ffn_config": {"num_experts": 4}}, True),
        ({"lora_rank": 4}, True),
    ],
    ids=str,
)
def test_code_that_the_repo_brings_is_not_counted_where_it_is_sized_by_keys_of_its_own(
    keys: Json, doubted: bool
) -> None:
    brought = {"auto_map": {"AutoModelForCausalLM": "modeling_own.LlamaForCausalLM"}}
    values = sharded().config | keys
    assert (build(Config(values | brought)).custom_code is not None) == doubted
    assert build(Config(values)).custom_code is None
    assert build(Config(values | {"auto_map": {"AutoTokenizer": ["own.Tokenizer", None]}})).custom_code is None


@pytest.mark.parametrize("absent", [None, "", ...], ids=repr)
@pytest.mark.parametrize(("brought", "severity"), [({}, "error"), ({"AutoConfig": "own.Config"}, "note")])
def test_a_config_without_a_type(absent: object, brought: Json, severity: str) -> None:
    values = config("llama", auto_map=brought) | {"model_type": absent}
    if absent is ...:
        del values["model_type"]
    assert found(values) == [("HF108", severity)]


def test_a_config_of_timm_needs_no_type() -> None:
    values = recorded("timm_wrapper", pretrained_cfg={"num_classes": 1000})
    del values["model_type"]
    assert "HF108" not in {one.code for one in hfcount.verify_tensors(values, {}).findings}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"model_type": "mycoolmodel"}, "lists the known types."),
        ({"model_type": "mycoolmodel", "auto_map": {"AutoModel": "a.B"}}, "auto_map names a.B."),
        ({"model_type": "LlamaForCausalLM"}, "It is the name of a class: set model_type to llama."),
        ({"_class_name": "Kandinsky3UNet"}, "Kandinsky3UNet, a class of diffusers"),
        ({"architectures": ["FooBar"]}, "hfcount does not know the class FooBar"),
    ],
)
def test_an_unknown_config_is_called_what_it_is(values: Json, said: str) -> None:
    with pytest.raises(UnknownArchitecture) as raised:
        hfcount.blueprint(values)
    assert said in str(raised.value)
    assert "Nearest" not in str(raised.value)


def test_chatglm_6b_comes_to_its_published_sizes() -> None:
    values: Json = recorded("chatglm_6b", model_type="chatglm", architectures=["ChatGLMModel"])
    rows = hfcount.blueprint(values).rows()
    assert sum(row.elements * (4 if row.component == "norm" else 2) for row in rows) == 13_744_473_856
    assert hfcount.blueprint(values | {"vocab_size": 130_528}).total == 6_173_286_400
    for key in ("quantization_bit", "pre_seq_len"):
        with pytest.raises(UnknownArchitecture, match=key):
            hfcount.blueprint(values | {key: 8})


def test_names_of_classes() -> None:
    assert known("PhiMoEForCausalLM") == ("PhimoeForCausalLM", ("phimoe",))
    assert known("NoSuchModel") is None is known("")
    assert classes("no_such_type") == () == classes("classes")
    assert [stem(one) for one in ("MiniCPM3ForCausalLM", "GPT2LMHeadModel", "LLaDAModelLM", "Ovis2_5")] == [
        "minicpm3",
        "gpt2",
        "llada",
        "ovis25",
    ]


def test_what_a_class_calls_its_base_model() -> None:
    assert [prefix("", "llama"), prefix("LlamaForQuestionAnswering", "llama"), prefix("LlamaModel", "llama")] == [
        "model",
        "transformer",
        "model",
    ]
    assert prefix("FooModel", "no_such_type") is None


@pytest.mark.long
def test_the_record_is_what_transformers_has() -> None:
    transformers = pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings it")
    if transformers.__version__ != version():
        pytest.skip(f"the record is of transformers {version()}, and {transformers.__version__} is installed")
    from classes import FILE, PREFIXES, recorded, text

    written = json.loads(FILE.read_text())
    assert text(written) == FILE.read_text(), "python tests/tools/classes.py writes it again"
    prefixes = json.loads(PREFIXES.read_text())
    assert text(prefixes, "prefixes") == PREFIXES.read_text(), "python tests/tools/classes.py writes it again"
    found = recorded("qwen2*")
    assert prefixes["prefixes"]["qwen2_vl"] == found["prefixes"]["qwen2_vl"] == "model"
    own = found["classes"]
    lacking = {kind: {*names.split()} - {*written["classes"].get(kind, "").split()} for kind, names in own.items()}
    assert {kind: names for kind, names in lacking.items() if names} == {}, (
        "python tests/tools/classes.py writes it again"
    )
    assert written["classes"].keys() >= own.keys()
    assert all(own[kind] == written["classes"][kind] for kind in ("qwen2_vl", "qwen2_5_omni_thinker", "llama"))


@pytest.mark.parametrize(
    "named", [7, 0, True, {}, {"LlamaForCausalLM": 1}, "LlamaForCausalLM", [7], [None], [[]]], ids=repr
)
def test_architectures_that_are_no_list_of_names_leave_the_class_open(named: object) -> None:
    stored = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(recorded("llama")).tensors()}
    report = hfcount.verify_tensors(recorded("llama", architectures=named), stored)
    assert (report.verdict, [finding.code for finding in report.findings]) == ("explained", ["HF116"])
    del stored[next(iter(stored))]
    report = hfcount.verify_tensors(recorded("llama", architectures=named), stored)
    assert (report.verdict, [finding.code for finding in report.findings]) == ("mismatch", ["HF201"])


@pytest.mark.parametrize("norms", [0, 1])
def test_falcon_has_one_norm_beside_both_unless_it_says_two(norms: int) -> None:
    values = recorded("falcon", parallel_attn=True, new_decoder_architecture=False, num_ln_in_parallel_attn=norms)
    names = {one.name for one in hfcount.blueprint(values).tensors() if ".h.0." in one.name}
    assert "transformer.h.0.input_layernorm.weight" in names
    assert not any("post_attention" in name or "ln_" in name for name in names)


@pytest.mark.parametrize("packed", [False, True])
def test_an_unknown_quantisation_over_plain_names_is_not_called_random(packed: bool) -> None:
    values = recorded("llama", quantization_config={"quant_method": "nobodys"}, dtype="bfloat16")
    plain = recorded("llama", dtype="bfloat16")
    tensors = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(plain).tensors()}
    if packed:
        tensors = {name.replace("proj.weight", "proj.qweight"): told for name, told in tensors.items()}
    assert hfcount.verify_tensors(values, tensors).verdict == ("mismatch" if packed else "unverified")
