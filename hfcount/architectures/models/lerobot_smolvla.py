"""SmolVLA: SmolVLM, and a narrower stack that reads its keys and values and gives actions (arXiv:2506.01844)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lerobot_smolvla",)  # modeling_smolvla.py of huggingface/lerobot, 0.4.4; smolvlm_with_expert.py
IGNORED = (
    "input_features", "output_features", "n_action_steps", "n_obs_steps", "resize_imgs_with_padding",
    "empty_cameras", "adapt_to_pi_aloha", "use_delta_joint_actions_aloha", "tokenizer_max_length", "num_steps",
    "freeze_vision_encoder", "train_expert_only", "train_state_proj", "vlm_model_name", "rtc_config",
    "load_vlm_weights", "add_image_special_tokens", "prefix_length", "pad_language_to", "min_period", "max_period",
    "compile_model", "compile_mode", "num_vlm_layers",
)  # fmt: skip

_MULTIPLE = 256  # of which the width of the networks is one
_ANY = -MAX_LAYERS
_NO_TOKENS = "it gives a chunk of actions at once, and no tokens"


class SmolVla(Sizes):
    max_state_dim: int = size("d_s", absent=32)
    max_action_dim: int = size("d_a", absent=32)


def spec(c: Config) -> Spec[SmolVla]:
    sees = families.part(c, "vlm_config", "smolvlm")
    text = sees.part("text")
    sizes = SmolVla.read(c)
    model = Spec(
        family=c.family,
        vocab=sees.vocab,
        hidden=sees.hidden,
        layers=sees.layers,
        layer_count=sees.layer_count,
        tied=sees.tied,
        uncounted=_NO_TOKENS,
        parts={"image": sees, "action": _acting(c, text)},
    )
    return model.having(sizes)


def _acting(c: Config, text: Spec) -> Spec:
    """The stack that gives actions: most of its layers read what keys and values of the other stack's layers are."""
    count, attention = c.int("num_expert_layers", default=-1, minimum=_ANY), text.layers[0].layer.attention
    depth = int(text.depth)
    if count > 0 and depth % count:
        message = f"num_expert_layers {count:,} does not divide the {depth:,} layers of the language model."
        raise c.error("not-divisible", message, "num_expert_layers")
    d = c.times("expert_width_multiplier", text.hidden, default=0.75)
    width = keys.dim("d_e", round_up(4 * int(2 * int(d) / 3), _MULTIPLE))
    layer = Layer(mixer=attention, ffn=Dense(width=width, bias=text.layers[0].layer.dense.bias))
    reading = layer.replace(memory=attention.kv_heads * attention.head_dim)
    every = c.int("self_attn_every_n_layers", default=2, minimum=_ANY)
    numbers = alone = Indices.below(count if count > 0 else depth)
    if "cross" in c.str("attention_mode", default="cross_attn"):
        alone = Indices.span(0, int(numbers.count), every) if every > 0 else Indices.below(0)
    layers = keys.split((alone, lambda: layer), (numbers.difference(alone), lambda: reading))
    return Spec(family=c.family, hidden=d, layers=tuple(layers), uncounted=_NO_TOKENS)


def blueprint(s: Spec[SmolVla]) -> Block:
    acts, d = s.part("action"), s.part("action").hidden
    expert = block(layers=stack(acts.layers, lambda layer: _layer(d, layer)), norm=rms_norm(d))
    return block(
        model=block(
            vlm_with_expert=block(vlm=families.tree(s.part("image")), lm_expert=expert),
            state_proj=Linear(s.own.max_state_dim, s.hidden, True, "projector"),
            action_in_proj=Linear(s.own.max_action_dim, d, True, "projector"),
            action_out_proj=Linear(d, s.own.max_action_dim, True, "projector"),
            action_time_mlp_in=Linear(2 * d, d, True, "projector"),
            action_time_mlp_out=Linear(d, d, True, "projector"),
        )
    )


def _layer(d: int, layer: Layer) -> Block:
    a = layer.attention
    attention = gqa(d, a)
    if layer.memory:
        read = Linear(layer.memory, a.kv_heads * a.head_dim, a.qkv_bias)
        attention = altered(attention, k_proj=read, v_proj=read)
    return pre_norm(d, self_attn=attention, mlp=swiglu(d, layer.dense.width, layer.dense.bias))
