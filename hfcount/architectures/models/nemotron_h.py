"""Nemotron-H and Nemotron 3: layers of one mixer each: Mamba-2, attention, a network or experts (arXiv:2504.03624)."""

from collections.abc import Callable, Sequence

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, drafting, embedding, gqa, mlp, rms_norm, stack, with_head
from hfcount.architectures.layers.ffn import correction_bias, experts
from hfcount.architectures.layers.mixers import mamba2
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import GQA, SSM, Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_nemotron_h.py
# and, for layers with sizes of their own, nemotron_h.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("nemotron_h", "nemotron_h_puzzle")
CLASSES = ("NemotronHPuzzleForCausalLM",)
PREDICTORS = ("NemotronHMTPModel", "NemotronHForCausalLMMTP")
IGNORED = ("time_step_rank",)  # of the first Mamba, whose steps have a projection of their own
SPELLINGS = {r"\bbackbone\.": "model."}
MERGED = {f"experts.{way}_proj": (f"experts.*.{way}_proj.weight",) for way in ("up", "down")}


class NemotronH(Sizes):
    """Sizes specific to Nemotron-H: the width of what routed experts read, 0 if they read the layer's."""

    moe_latent_size: int = size(absent=0)


def spec(c: Config) -> Spec[NemotronH]:
    searched = c.family == "nemotron_h_puzzle"
    if searched:
        c.kind = "nemotron_h"  # whose class says what absent keys mean
    sizes = NemotronH.read(c)
    layers = _searched(c, sizes) if searched else _listed(c)
    steps = c.int("num_nextn_predict_layers", default=0, minimum=0, maximum=MAX_LAYERS)
    further = (_searched_ahead if searched else _listed_ahead)(c, steps)
    model = keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), parts=keys.ahead(c, further))
    return model.replace(tied=False).having(sizes)  # the head is its own, whatever the config says


def _made(c: Config) -> dict[str, Callable[[], Layer]]:
    """What makes a layer of each kind from a config, or from what it says of one block."""

    def sparse() -> Layer:
        ffn = keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts", "num_local_experts"))
        shared, bias = c.int("moe_shared_expert_intermediate_size"), c.bool("mlp_bias", default=False)
        return Layer(ffn=ffn.replace(shared=shared, bias=bias))

    return {
        "linear_attention": lambda: Layer(mixer=_wide_mamba2(c)),
        "full_attention": lambda: Layer(mixer=_attention(c)),
        "mlp": lambda: Layer(ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))),
        "moe": sparse,
    }


def _attention(c: Config) -> GQA:
    mixer = keys.attention(c, head_dim=128)
    c.confirms(attention_head_dim=int(mixer.head_dim))  # its name in the first configs
    return mixer


def _listed(c: Config) -> list[Layers]:
    """Layers by a list or a text with the kind of each."""
    listed = ("layers_block_type", "layer_types")
    pattern = keys.spelled(c, "hybrid_override_pattern", "ME*-")
    key = next(filter(c.given, listed), "hybrid_override_pattern")
    given = keys.kinds(c, *listed) if key in listed else pattern
    c.int("num_hidden_layers", default=None)  # in configs, without effect: there are as many layers as kinds
    return keys.by_kind(c, _made(c), given, key, len(given))


def _listed_ahead(c: Config, steps: int) -> Sequence[Layers]:
    drafts = keys.kinds(c, "mtp_layers_block_type")
    drafts = drafts or keys.spelled(c, "mtp_hybrid_override_pattern", "*E")
    return keys.repeated(c, _made(c), drafts, steps) if steps else ()


def _searched_ahead(c: Config, steps: int) -> Sequence[Layers]:
    key = "mtp_block_configs"
    if not steps:
        c.entries(key)  # in configs, without effect
        return ()
    rounds = {str(place): _made(config)[kind] for place, (config, kind) in enumerate(_blocks(c, key))}
    return keys.repeated(c, rounds, list(rounds), steps)


def _searched(c: Config, sizes: NemotronH) -> list[Layers]:
    """Layers by block_configs: each has the config's keys, but for those that its block gives another value."""
    c.int("num_hidden_layers", default=None)
    alike: dict[str, list[int]] = {}
    blocks = _blocks(c, "block_configs")
    for place, (block_, kind) in enumerate(blocks):
        if NemotronH.read(block_) != sizes:
            text = f"block_configs[{place}] has a moe_latent_size of its own, which is not described."
            raise c.error("not-described", text, "block_configs")
        alike.setdefault(f"{kind} {c.entries('block_configs')[place]}", []).append(place)
    made = [(numbers, blocks[numbers[0]]) for numbers in alike.values()]
    return [Layers(indices=Indices.of(numbers), layer=_made(config)[kind]()) for numbers, (config, kind) in made]


def _blocks(c: Config, key: str) -> list[tuple[Config, str]]:
    """The config as each block of a list changes it, and the block's kind."""
    blocks, given = [], c.entries(key)
    if not given:
        raise c.error("list-length", f"{key} lists no block.", key, "Give the kind and the sizes of each layer.")
    for place, changed in enumerate(given):
        if not isinstance(changed, dict):
            raise c.malformed(f"{key}[{place}] is no object.", key)
        config = c.varied(f"{key}[{place}]", changed)
        kind = _KINDS.get(config.str("block_type"))
        if kind is None:
            text = f"{key}[{place}] is of a kind that the family does not know."
            raise c.error("unknown-kind", text, key, observed=config.str("block_type"))
        blocks.append((config, kind))
    return blocks


_KINDS = {"mamba": "linear_attention", "attention": "full_attention", "mlp": "mlp", "moe": "moe"}


def blueprint(s: Spec[NemotronH]) -> Block:
    d = s.hidden

    def mixer(layer: Layer) -> Block:
        match layer.mixer or layer.ffn:
            case SSM() as m:
                return mamba2(d, m)
            case GQA() as a:
                return gqa(d, a)
            case MoE() as m:
                return _latent_moe(d, m, s.own.moe_latent_size)
        return mlp(d, layer.dense.width, layer.dense.bias, "up_proj", "down_proj")

    def layer_block(layer: Layer) -> Block:
        return drafting(d, layer, block(norm=rms_norm(d), mixer=mixer(layer)))

    body = block(embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm_f=rms_norm(d))
    further = stack(s.stack("mtp"), layer_block)
    prefix = "model" if s.family == "nemotron_h_puzzle" else "backbone"
    tree = with_head(s, body, prefix=prefix, table="embeddings")
    return altered(tree, mtp=block("mtp", layers=further) if further else None)


def _wide_mamba2(c: Config) -> SSM:
    """Mamba-2 with an inner width of mamba_num_heads · mamba_head_dim."""
    heads = c.int("mamba_num_heads")
    return SSM(
        inner=heads * c.int("mamba_head_dim"),
        state=c.int("ssm_state_size"),
        kernel=c.int("conv_kernel", "mamba_d_conv"),
        heads=heads,
        groups=c.int("n_groups", "mamba_n_groups"),
        conv_bias=c.bool("use_conv_bias", "mamba_conv_bias", default=True),
        bias=c.bool("use_bias", default=False),
    )


def _latent_moe(d: int, m: MoE, latent: int = 0) -> Block:
    """Balanced experts without gate projections, and a shared one; routed experts read `latent` elements, or d if 0.

    Source: arXiv:2512.20856. Tensors: gate.weight (n, d), gate.e_score_correction_bias (n); n times up_proj (d_ff,
    latent) and down_proj (latent, d_ff) under experts; shared_experts.up_proj (d_s, d) and down_proj (d, d_s);
    fc1_latent_proj (latent, d) and fc2_latent_proj (d, latent) unless `latent` is 0.
    """
    inputs = latent or d
    expert = block("experts", up_proj=Linear(inputs, m.width), down_proj=Linear(m.width, inputs))
    shared = m.shared or 0
    return block(
        gate=block("router", weight=Tensor((m.experts, d)), e_score_correction_bias=correction_bias(m)),
        experts=experts(m, expert),
        shared_experts=block("mlp", up_proj=Linear(d, shared, m.bias), down_proj=Linear(shared, d, m.bias)),
        fc1_latent_proj=Linear(d, latent, m.bias, component="mlp") if latent else None,
        fc2_latent_proj=Linear(latent, d, m.bias, component="mlp") if latent else None,
    )
