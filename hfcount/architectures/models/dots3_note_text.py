"""dots3-note's language model: gated latent attention, of another shape in windows, and balanced experts."""

from collections.abc import Callable

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, indexer, mla, network, pre_norm, rms_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.mapper.per_layer_config import overrides
from hfcount.spec import MLA, Layer, Layers, MoE, Record, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear

MODEL_TYPES = ("dots3_note_text",)  # transformers 5.23: modeling_dots3_note.py
MERGED = packed()


_OWN = ("num_attention_heads", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
_FURTHER = ("num_key_value_heads", "head_dim")  # which say nothing new


class Dots3NoteLayer(Record):
    """Whether attention has a window, and sizes of its own."""

    near: bool


def spec(c: Config) -> Spec:
    bias, mixers = c.bool("mlp_bias", default=False), _mixers(c)

    def experts() -> MoE:
        among = ("n_routed_experts", "num_local_experts", "num_experts")
        each = c.int("moe_shared_expert_intermediate_size", default=None) or c.int("shared_experts_intermediate_size")
        return keys.moe(c, "moe_intermediate_size", experts=among).replace(
            shared=each * c.int("n_shared_experts"), bias=bias
        )

    networks = keys.networks(c, keys.dense_and_stepped(c), experts, bias=bias)
    size = keys.extent(c, "sliding_window", default=None) or keys.extent(c, "sliding_window_size", default=512)
    near = [part.indices for part in mixers if _near(part)]
    windows = tuple(window for indices in near if size for window in keys.within(indices, size))
    return keys.decoder_spec(c, keys.combined(mixers, networks), heads=("ForCausalLM", "Model"), windows=windows)


def _near(part: Layers) -> bool:
    return part.layer.sizes(Dots3NoteLayer).near


def _mixers(c: Config) -> list[Layers]:
    """Layers with their attention, of which some have a window.

    Without layer_types windows are in all but the first two layers and the second of each four. Source: transformers
    5.23, configuration_dots3_note.py, Dots3NoteTextConfig.
    """
    usual, count, given = keys.mla(c), keys.layer_count(c), keys.kinds(c, "layer_types")
    selects = c.bool("use_dsa", default=not c.given("per_layer_config"))
    far = keys.indexed(c, usual)[0]
    near = Layer(mixer=usual, own=Dots3NoteLayer(near=True))
    full, chosen = (Layer(mixer=mixer, own=Dots3NoteLayer(near=False)) for mixer in (usual, far))
    forced = c.given("use_dsa") or not c.given("per_layer_config")
    known: dict[str, Layer | Callable[[], Layer]] = {
        "sliding_attention": near,
        "full_attention": chosen if forced and selects else full,
        "indexed_attention": full if forced and not selects else chosen,
    }
    if given:
        placed = keys.by_kind(c, known, given, otherwise="full_attention")
    else:
        every = Indices.below(count)
        some = Indices.below(min(2, count)) if c.bool("use_sliding_window", default=True) else every
        later = Indices.span(5, count, 4) if some is not every and count > 5 else Indices.below(0)
        wide = full if forced and not selects else chosen
        rest = every.difference(some, later)
        placed = keys.split((some, lambda: wide), (later, lambda: wide), (rest, lambda: near))
    return _shaped(c, placed, usual, count)


def _shaped(c: Config, placed: list[Layers], usual: MLA, count: int) -> list[Layers]:
    if not c.given("per_layer_config"):
        window = _windowed(c, usual)
        return [part.replace(layer=part.layer.replace(mixer=window)) if _near(part) else part for part in placed]
    latents = [(Indices.of(numbers), keys.mla(config)) for numbers, config in overrides(c, (*_OWN, *_FURTHER), count)]
    layers = []
    for part in placed:
        left = part.indices
        for some, mixer in latents:
            both = intersection(part.indices, some)
            left = left.difference(both)
            latent = part.layer.latent
            shaped = mixer.replace(top_k=latent.top_k, index_heads=latent.index_heads, index_dim=latent.index_dim)
            layers.append(Layers(indices=both, layer=part.layer.replace(mixer=shaped)))
        layers.append(part.replace(indices=left))
    return [part for part in layers if part.indices.count]


def _windowed(c: Config, usual: MLA) -> MLA:
    nope = c.int("swa_qk_nope_head_dim", default=192)
    rope = c.int("swa_qk_rope_head_dim", default=None)
    return usual.replace(
        heads=c.int("swa_num_attention_heads", default=64),
        q_lora_rank=c.int("swa_q_lora_rank", default=1024),
        kv_lora_rank=c.int("swa_kv_lora_rank", default=1024),
        nope_dim=nope,
        rope_dim=c.int("swa_head_dim", default=256) - nope if rope is None else rope,
        value_dim=c.int("swa_v_head_dim", default=128),
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.latent
        attention = altered(
            mla(d, a),
            g_proj=Linear(d, a.heads),
            k_rope_only_layernorm=rms_norm(a.rope_dim),
            indexer=indexer(d, a) if a.index_heads else None,
        )
        return pre_norm(
            d, self_attn=attention, mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True, bias=m.bias))
        )

    return decoder(s, layer_block)
