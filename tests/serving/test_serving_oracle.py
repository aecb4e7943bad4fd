"""What hfcount says that models keep and multiply, against small models of transformers that run.

Each recorded architecture is shrunk, given tokens, and its cache is counted; then a further token passes it, whose
multiply-adds torch counts. Two rules make both sides mean the same:

- A window of w tokens holds the present one, so between two tokens transformers keeps w - 1 of them.
- A convolution of width w needs w - 1 earlier inputs; transformers keeps w.

Keys that are the values too are kept once, although some caches hold them twice.
"""

import importlib
import json
from functools import cache
from typing import Any

import pytest
from paths import ARCHITECTURES

import hfcount
from hfcount.serving.cost import Cost, MixerCost, cost
from hfcount.spec import GQA, MLA

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)
caching = pytest.importorskip("transformers.cache_utils", reason=_EXTRA)
counting = pytest.importorskip("torch.utils.flop_counter", reason=_EXTRA)

Json = dict[str, Any]

RECORDED: dict[str, Json] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["config"]
    for path in sorted(ARCHITECTURES.glob("*.json"))
    if json.loads(path.read_text(encoding="utf-8"))["judge"].startswith("transformers")
}

LAYERS, WINDOW, CONTEXTS = 6, 7, (5, 11)

# What sizes become, so that no two that a formula multiplies are alike.
_SIZES = {
    48: "vocab_size vocab_size_per_layer_input",
    64: "hidden_size d_model n_embd embedding_dim word_embed_proj_dim lru_width max_position_embeddings n_positions",
    32: "intermediate_size ffn_dim dff ffn_hidden_size moe_intermediate_size shared_expert_intermediate_size"
    " moe_shared_expert_intermediate_size shared_intermediate_size intermediate_size_mlp mamba_d_head"
    " attention_head_dim",
    128: "mamba_d_ssm attention_hidden_size",
    24: "mamba_head_dim",
    20: "swa_head_dim kv_lora_rank",
    16: "head_dim num_experts num_local_experts n_routed_experts moe_num_experts",
    12: "q_lora_rank index_head_dim",
    10: "linear_value_head_dim",
    9: "rel_extent",
    8: "qk_nope_head_dim linear_head_dim mamba_d_state ssm_state_size state_size router_hidden_size",
    LAYERS: "num_hidden_layers n_layer n_layers num_layers num_blocks v_head_dim linear_key_head_dim",
    4: "num_attention_heads n_head n_heads num_heads attention_heads swa_num_attention_heads swa_num_key_value_heads"
    " qk_rope_head_dim hidden_size_per_layer_input laurel_rank linear_num_heads linear_num_value_heads mamba_n_heads"
    " mamba_dt_rank mamba_num_heads time_step_rank adapter_rank d_rel",
    2: "num_experts_per_tok num_experts_per_token moe_topk moe_k num_kv_shared_layers index_n_heads n_groups"
    " linear_num_key_heads mamba_n_groups",
}
SMALL = {name: size for size, names in _SIZES.items() for name in names.split()}

WINDOWS = ("sliding_window", "attention_chunk_size", "window_size", "attention_window_size", "sliding_window_size")

ALTERNATE = ["sliding_attention", "full_attention"] * 3
HYBRID = ["linear_attention", "hybrid", "linear_attention", "hybrid", "hybrid", "linear_attention"]
SECTIONS = {"rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3]}}

TOWER = {"hidden_size": 16, "num_hidden_layers": 1, "intermediate_size": 8, "num_attention_heads": 4}
INDEXED = ["indexed_attention", "indexed_attention", "sliding_attention"] * 2
FLOW = {"flow_head_config": {"hidden_size": 8, "num_hidden_layers": 1, "latent_dim": 32, "condition_dim": 64}}

# What else has to fit the small sizes.
FITTED: dict[str, Json] = {
    "bamba": {"attn_layer_indices": [1, 4]},
    "codegen": {"rotary_dim": 8},
    "cosmos3_edge_text": SECTIONS,
    "deepseek_v2": {"num_experts_per_tok": 2},
    # Of either length of context the last group is complete but for one token.
    "deepseek_v4": {
        "compress_rates": {"compressed_sparse_attention": 3, "heavily_compressed_attention": 6},
        "compress_ratios": [0, 4, 128, 4, 128, 4],
        "hc_mult": 2,
        "o_groups": 2,
        "o_lora_rank": 5,
    },
    "dots3_note_text": {"layer_types": INDEXED, "per_layer_config": {}, "head_dim": 12},
    "hy_v4_vl_text": {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 0]}},
    "ernie4_5_vl_moe_text": {
        "moe_intermediate_size": [32, 20],
        "rope_parameters": {"rope_type": "default", "mrope_section": [3, 3, 2]},
    },
    "gemma3n_text": {"intermediate_size": 32, "layer_types": ALTERNATE},
    "gemma4_text": {"layer_types": ALTERNATE, "global_head_dim": 24, "num_kv_shared_layers": 2},
    "glm4v_moe_text": {
        "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5, "mrope_section": [1, 1, 2]}
    },
    "glm4v_text": SECTIONS,
    "glm_image_text": SECTIONS,
    "gpt_neo": {"attention_types": [[["global", "local"], 3]]},
    "gptj": {"rotary_dim": 8},
    "granitemoehybrid": {"layer_types": ["linear_attention", "full_attention"] * 3},
    "gradium_phonon_tts": FLOW,
    "hrm_text": {"num_layers_per_stack": 2, "num_hidden_layers": 16, "H_cycles": 2, "L_cycles": 3},
    "hunyuan_vl_text": SECTIONS,
    "llama4_text": {"moe_layers": list(range(LAYERS))},
    "mamba2": {"num_heads": 4, "head_dim": 32},
    "minimax_m3_vl_text": {
        "layer_types": ["full_attention", "minimax_m3_sparse", "minimax_m3_sparse"] * 2,
        "index_n_heads": 2,
        "index_head_dim": 12,
        "index_block_size": 4,
        "index_topk_blocks": 3,
    },
    "mistral_large4_text": {
        "kv_source_layers": [0, 1, 1, 3, 4, 4],
        "indexer_types": ["full", "full", "shared"] * 2,
        "no_rope_layers": [1, 0, 0] * 2,
    },
    "musicgen_melody_decoder": {"num_codebooks": 1},
    "phi4_multimodal": {"vision_config": TOWER, "audio_config": TOWER | {"num_blocks": 1}},
    "pocket_tts": FLOW,
    "qwen2_5_vl_text": SECTIONS,
    "qwen2_vl_text": SECTIONS,
    "rwkv": {"attention_hidden_size": 64},
    "xmod": {"default_language": "en_XX"},
    "xlstm": {"hidden_size": 128, "embedding_dim": 128},
    "zamba": {"layers_block_type": HYBRID},
    "zamba2": {"layers_block_type": HYBRID, "n_mamba_heads": 4, "mamba_ngroups": 2},
    "zaya": {"num_experts_per_tok": 1},
}

# The same of parts beside a language model: their outputs are as wide as its small tokens.
BESIDE: dict[str, Json] = {
    "apertus1p5": {
        "vision_config": {"codebook_size": 4},
        "audio_config": {"codebook_size": 4},
        "image_token_offset": 16,
        "audio_token_offset": 20,
    },
    "fun_asr_nano": {"adaptor_config": {"hidden_size": 64, "intermediate_size": 16}},
    "granite_docling": {"vision_config": {"out_hidden_size": 64}},
    "inkling2": {"vision_config": {"text_hidden_size": 64}},
    "inkling2_loop": {"vision_config": {"text_hidden_size": 64}},
    "muse_spark": {"audio_config": {"out_hidden_size": 64}},
}


def small(values: Json, kind: str) -> Json:
    """A config of the architecture `kind` in small, with windows where it knows them."""
    known, mha = transformers.CONFIG_MAPPING[kind], values.get("num_attention_heads")
    result: Json = {}
    for key, value in values.items():
        if key == "num_key_value_heads":
            result[key] = value and (4 if value == mha else 2)
        elif isinstance(value, list) and key in ("num_attention_heads_per_layer", "moe_layers"):
            result[key] = [4] * LAYERS if key.startswith("num") else [one for one in value if one < LAYERS]
        elif isinstance(value, list) and key.endswith(("_types", "_type")):
            result[key] = (value * LAYERS)[:LAYERS]
        elif key == "per_layer_config":
            result[key] = among(value, LAYERS)
        elif key == "first_k_dense_replace":
            result[key] = min(value, 1)
        else:
            result[key] = SMALL[key] if key in SMALL and type(value) is int else value
    if "kv_lora_rank" in values:
        result["num_key_value_heads"] = 4  # of no effect, but transformers divides by it
    asked = {"use_sliding_window": True, "max_window_layers": 2, "local_attention": 2 * WINDOW}
    windows = {**dict.fromkeys(WINDOWS, WINDOW), **asked}
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    result |= {key: value for key, value in windows.items() if hasattr(known, key)}
    return {**result, **tokens, **FITTED.get(kind, {})}


def among(given: Json, depth: int) -> Json:
    """What a config says of its first `depth` layers one by one."""
    return {layer: own for layer, own in given.items() if int(layer) < depth}


def parsed(values: Json) -> Any:
    return transformers.CONFIG_MAPPING[values["model_type"]].from_dict(json.loads(json.dumps(values)))


def pair(name: str) -> tuple[Json, Any]:
    """A recorded config in small, and what transformers makes of its language model's part."""
    values = RECORDED[name]
    if "text_config" not in values:
        values = small(values, values["model_type"])
        return values, parsed(values)
    kind = parsed(values).get_text_config(decoder=True).model_type
    asked = BESIDE.get(name, {})
    beside = {key: {**values.get(key, {}), **own} if isinstance(own, dict) else own for key, own in asked.items()}
    values = {**values, **beside, "text_config": small(values["text_config"], kind)}
    return values, parsed(values).get_text_config(decoder=True)


def kept(name: str) -> bool:
    """Whether hfcount says what a model of this architecture keeps, and that it keeps something."""
    blueprint = hfcount.blueprint(RECORDED[name])
    return blueprint.spec.causal and not blueprint.spec.uncounted


def fields(name: str) -> set[str]:
    """The keys that transformers knows of an architecture."""
    return set(dir(transformers.CONFIG_MAPPING[RECORDED[name]["model_type"]]))


CAUSAL = [name for name in RECORDED if kept(name)]


def model_of(values: Json, config: Any) -> Any:
    if "text_config" in values:
        return transformers.AutoModel.from_config(config).eval()
    name = values["architectures"][0]
    if not hasattr(transformers, name):  # which does not hand all its classes out
        module = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
        return getattr(module, name)._from_config(config).eval()
    return getattr(transformers, name)._from_config(config).eval()


CACHE = "cache"
"""What models give back, and take, since transformers 5.24."""


def run(model: Any, ids: list[int], **more: Any) -> Any:
    if model.config.model_type == "recurrent_gemma" and not more:  # which does not hand its cache out
        more = {CACHE: caching.DynamicCache(config=model.config)}
    with torch.no_grad():
        return {**more, **model(input_ids=torch.tensor([ids]), use_cache=True, **more)}


def cached(model: Any, output: Json) -> tuple[int, int]:
    """Elements of keys and values, and of states, after a run."""
    kind = model.config.model_type
    if kind == "rwkv":  # the inputs before of both halves, then three sums
        return 0, sum(state.numel() for state in output["state"])
    if kind == "xlstm":
        return 0, sum(state.numel() for layer in output[CACHE].rnn_state.values() for state in layer)
    cache = output[CACHE if CACHE in output else "cache_params"]
    cache = getattr(cache, "self_attention_cache", cache)
    states = [*getattr(cache, "linear_cache", ())]  # MiniMax's
    tensors = []
    for layer in cache.layers:
        found = {name: getattr(layer, name, None) for name in ("keys", "values", "indexer_keys", "idx_keys")}
        if torch.is_tensor(found["keys"]) and torch.equal(found["keys"], found["values"]):
            del found["values"]  # which are the keys
        tensors += found.values()
        tensors += getattr(layer, "compressed_kv", {}).values()
        for name in ("buffer_kv", "buffer_gate", "overlap_kv", "overlap_gate"):  # of tokens that wait for their group
            states += getattr(layer, name, {}).values()
    for layer in cache.layers:
        states += getattr(layer, "recurrent_states", {}).values()
        whole = [state for state in getattr(layer, "conv_states", {}).values() if state is not None]
        states += whole if kind == "zaya" else [state[..., 1:] for state in whole]
    if kind == "recurrent_gemma":  # whose modules hold them
        blocks = [layer.temporal_block for layer in model.model.layers if hasattr(layer.temporal_block, "rg_lru")]
        states = [state for block in blocks for state in (block.rg_lru.recurrent_states, block.conv1d_state)]
    return _elements(tensors), _elements(states)


def _elements(tensors: list[Any]) -> int:
    return sum(tensor.numel() for tensor in tensors if torch.is_tensor(tensor))


_NO_CLASS = "AutoModel knows no class for its text part alone"

# What is not run, and why.
APART_FROM_RUNS: dict[str, str] = {
    "bros": "needs a box for each token",
    "clvp": "its text_config is that of an encoder beside the decoder",
    "csm": "its codec and its depth decoder stay as large as recorded",
    "decision_transformer": "reads states, actions and returns instead of tokens",
    "ernie4_5_vl_moe": _NO_CLASS,
    "diffusion_gemma": _NO_CLASS,
    "evolla": "reads a protein beside the tokens",
    "granite4_vision": _NO_CLASS,
    "kosmos-2": _NO_CLASS,
    "kosmos-2.5": _NO_CLASS,
    "kyutai_speech_to_text": "reads a token of each codebook beside each token of text",
    "moshi_depth": "reads what the language model makes of a token beside the codebooks",
    "musicgen_melody": "has a decoder of its own key instead of a text part",
    "openai-gpt": "has no cache",
    "paddleocr_vl": _NO_CLASS,
    "pi0": "reads the state of a robot beside the tokens",
    "qwen2_5_omni": "its parts lie two levels down, and stay as large as recorded",
    "qwen2_5_omni_talker": "reads what the thinker makes of a token",
    "qwen2_5_omni_thinker": _NO_CLASS,
    "qwen3_omni_moe_talker_code_predictor": "reads embeddings that the talker makes",
    "qwen3_omni_moe_talker_text": "reads embeddings that the whole talker makes",
    "qwen3_omni_moe_thinker": _NO_CLASS,
    "step3p7": _NO_CLASS,
    "unlimited_ocr": _NO_CLASS,
    "unlimited_ocr_text": "keeps a prompt whole, and a window of what follows it",
    "voxtral_realtime": _NO_CLASS,
    "voxtral_realtime_text": "reads an embedding of its delay beside the tokens",
}
MASKED = {"gpt_neo", "minimax"}  # transformers keeps what lies beyond their windows, and masks it


@cache
def built(name: str) -> tuple[Json, Cost, Any]:
    """A recorded config in small, what hfcount says of it, and the model that transformers builds."""
    values, config = pair(name)
    config._attn_implementation = config._experts_implementation = "eager"
    return values, cost(hfcount.blueprint(values)), model_of(values, config)


def tokens(part: MixerCost, context: int, name: str) -> int:
    """How many tokens transformers keeps, of a context that no further token follows yet."""
    if part.merged:
        return part.held(context)
    return context if part.window is None or name in MASKED else min(context, part.window - 1)


RUN = [name for name in CAUSAL if name not in APART_FROM_RUNS]


@pytest.mark.parametrize("name", RUN)
def test_what_is_cached(name: str) -> None:
    _, found, model = built(name)
    for context in CONTEXTS:
        output = run(model, list(range(3, 3 + context)))
        assert cached(model, output) == (
            sum(part.layers * part.per_token * tokens(part, context, name) for part in found.kept),
            sum(part.layers * part.state for part in found.kept),
        )


def seeing(name: str) -> bool:
    """Whether an architecture sees tokens behind a token too, and may be told to be a decoder instead."""
    return "add_cross_attention" in RECORDED[name] and not hfcount.blueprint(RECORDED[name]).spec.causal


ENCODERS = [name for name in RECORDED if seeing(name)]


def decoding(name: str) -> bool:
    """Whether transformers has a class of this architecture that decodes."""
    known = transformers.CONFIG_MAPPING[RECORDED[name]["model_type"]]
    return known in transformers.MODEL_FOR_CAUSAL_LM_MAPPING


@pytest.mark.parametrize("decodes", [True, False])
@pytest.mark.parametrize("name", [name for name in ENCODERS if decoding(name)])
def test_an_encoder_caches_nothing_unless_it_decodes(name: str, decodes: bool) -> None:
    values = {**small(RECORDED[name], RECORDED[name]["model_type"]), "is_decoder": decodes}
    model = transformers.AutoModelForCausalLM.from_config(parsed(values)).eval()
    output = run(model, [3, 4, 5, 6, 7])
    per_token = sum(part.layers * part.per_token for part in cost(hfcount.blueprint(values)).kept)
    assert (per_token > 0) == decodes
    assert (cached(model, output) if output.get(CACHE) else (0, 0)) == (5 * per_token, 0)


# BigBird and TAPAS pool the first token alone; MRA and Nyströmformer approximate attention by blocks and landmarks;
# ConvBERT also multiplies by kernels that it makes for each token.
APART = ("big_bird", "tapas", "mra", "nystromformer", "convbert")


@pytest.mark.parametrize("name", [name for name in ENCODERS if name not in (*APART, *APART_FROM_RUNS)])
def test_what_an_encoder_multiplies(name: str) -> None:
    values = small(RECORDED[name], RECORDED[name]["model_type"])
    found, config, length = cost(hfcount.blueprint(values)), parsed(values), 5
    config._attn_implementation = "eager"
    model = model_of(values, config)
    with counting.FlopCounterMode(display=False) as counter:
        run(model, list(range(3, 3 + length)))
    ours = found.matrices + sum(part.multiply_adds(length) for part in found.kept)
    assert counter.get_total_flops() == 2 * length * ours


# Where transformers' multiply-adds mean something else, and why.
UNLIKE = {
    "csm_depth_decoder_model": "each codebook has a head of its own, and the first token has none",
    "diffllama": "the same scores are made twice, for either half of the values",
    "doge": "a token's mask is made anew from the values of all tokens before",
    "gemma3n_text": "streams are mixed by factors that a token gives, which are no parameters",
    "gradium_phonon_tts": "every place passes the projections of latents, and none passes the flow head",
    "gpt_neo": "what lies beyond a window is multiplied and masked",
    "llama4_text": "every token passes all experts, and one of them counts",
    "pocket_tts": "every place passes the projection of latents",
}


def comparable(name: str) -> bool:
    """Whether torch counts all that hfcount does: products of elements, as states have, and convolutions are not."""
    spec = hfcount.blueprint(RECORDED[name]).spec
    return "text" not in spec.parts and "text_config" not in RECORDED[name] and not any(
        part.per_step or part.state for part in cost(hfcount.blueprint(RECORDED[name])).kept
    )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in RUN if name not in UNLIKE and comparable(name)])
def test_what_is_multiplied(name: str) -> None:
    values, found, model = built(name)
    context = CONTEXTS[-1]
    output = run(model, list(range(3, 3 + context)))
    with counting.FlopCounterMode(display=False) as counter:
        run(model, [20], **{CACHE: output[CACHE]})
    ours = found.matrices + sum(part.multiply_adds(context + 1) for part in found.kept)
    assert counter.get_total_flops() == 2 * (ours + expanded(values, context))


def expanded(values: Json, context: int) -> int:
    """Latent attention: transformers makes keys and values of all earlier tokens anew, of what it keeps of them."""
    windows = described_windows(values)
    mixers = [(part.indices, part.layer.mixer) for part in hfcount.blueprint(values).spec.layers]
    return sum(
        int(
            min(context, (window or context + 1) - 1)
            * mixer.kv_lora_rank
            * mixer.heads
            * (mixer.nope_dim + mixer.value_dim)
        )
        for number, window in enumerate(windows)
        for indices, mixer in mixers
        if number in indices and isinstance(mixer, MLA)
    )


# Whose decoder is not what transformers calls their text part.
NO_TEXT = {"clvp", "pi0"}


def known_windows(values: Json) -> list[int | None]:
    """The window of each layer as transformers' cache takes it from the config."""
    _, arguments = caching.get_layer_types_and_kwargs(parsed(values).get_text_config(decoder=True))
    told = [vars(layer["config"]) if "config" in layer else layer for layer in arguments]
    return [layer.get("sliding_window") or None for layer in told]


def described_windows(values: Json) -> list[int | None]:
    spec = hfcount.blueprint(values).spec
    owners = [part for part in spec.layers if not part.layer.shares_kv]
    attending = [part.indices for part in owners if isinstance(part.layer.mixer, GQA | MLA)]
    return [
        next((int(window.extent) for window in spec.windows if number in window.indices), None)
        if any(number in indices for indices in attending)
        else None
        for number in range(spec.depth)
    ]


@pytest.mark.parametrize("name", [name for name in CAUSAL if name not in MASKED and name not in NO_TEXT])
def test_windows_are_those_transformers_takes(name: str) -> None:
    """With the keys as published, which mostly leave windows to what their absence means."""
    assert described_windows(RECORDED[name]) == known_windows(RECORDED[name])


PLACED = ("compress_ratios", "layer_types", "mlp_layer_types", "moe_layers", "num_attention_heads_per_layer")
WITH_WINDOWS = [
    name
    for name in CAUSAL
    if name not in MASKED
    and not {"text_config", "layers_block_type"} & set(RECORDED[name])
    and any(
        hasattr(transformers.CONFIG_MAPPING[RECORDED[name]["model_type"]], key) for key in (*WINDOWS, "local_attention")
    )
]


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 9, 13])
@pytest.mark.parametrize("name", WITH_WINDOWS)
def test_windows_at_any_depth(name: str, depth: int) -> None:
    values = {key: value for key, value in RECORDED[name].items() if key not in PLACED}
    values |= {"num_hidden_layers": depth, "num_kv_shared_layers": 0}
    values |= {"intermediate_size": 32} if isinstance(values.get("intermediate_size"), list) else {}
    values |= {key: among(values[key], depth) for key in ("per_layer_config",) if key in values}
    assert described_windows(values) == known_windows(values)


@pytest.mark.parametrize("name", [name for name in WITH_WINDOWS if "layer_types" in fields(name)])
def test_windows_where_layer_types_has_them(name: str) -> None:
    """In a config that gives each layer its kind, and with Qwen's switch on and off."""
    near = "chunked_attention" if name == "llama4_text" else "sliding_attention"
    prefix = "hybrid" if name.startswith(("inkling", "zaya")) else "full_attention"
    prefix = "compressed_sparse_attention" if name == "deepseek_v4" else prefix
    near = "hybrid_sliding" if prefix == "hybrid" else near
    near = "reference_sliding_attention" if name == "unlimited_ocr_text" else near
    known = {"layer_types": [near, prefix, prefix, near, near, prefix], "sliding_window": 5, "attention_chunk_size": 5}
    for switch in (True, False):
        values = {**small(RECORDED[name], RECORDED[name]["model_type"]), **known, "use_sliding_window": switch}
        values = {key: value for key, value in values.items() if key in RECORDED[name] or key in fields(name)}
        assert described_windows(values) == known_windows(values)
