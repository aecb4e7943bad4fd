"""Evolla: Llama's layers, some with an adapter that reads an encoder of proteins (doi:10.1101/2025.01.05.630192)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    altered,
    base,
    embedding,
    gqa,
    layer_norm,
    pre_norm,
    rms_norm,
    stack,
    swiglu,
    with_head,
)
from hfcount.architectures.layers.encoders import bert_layer
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Head, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

# The second is what 4.57 saves.
MODEL_TYPES = ("evolla", "EvollaModel")  # transformers 5.23: modeling_evolla.py


class Evolla(Sizes):
    """Sizes specific to Evolla: what reads proteins, and adapters."""

    resampler_depth: int = size()
    resampler_dim_head: int = size()
    resampler_heads: int = size()
    resampler_num_latents: int = size()
    resampler_ff_mult: int = size()
    aligner_ffn_mult: int = size()
    aligner_enable_bias: bool = flag(absent=True)


class EvollaLayer(Record):
    """Whether a layer has an adapter."""

    adapted: bool


def spec(c: Config) -> Spec[Evolla]:
    c.kind = "evolla"  # whose class says what absent keys mean
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    ffn, count = keys.dense(c, bias=c.bool("mlp_bias", default=False)), keys.layer_count(c)
    step = max(count // c.int("aligner_num_add_layers", default=8), 1)
    some = Indices.span(step - 1, count, step)
    plain, adapted = (Layer(mixer=mixer, ffn=ffn, own=EvollaLayer(adapted=adapted)) for adapted in (False, True))
    layers = keys.split((some, lambda: adapted), (Indices.below(count).difference(some), lambda: plain))
    sizes = Evolla.read(c)
    parts = {"protein": families.part(c, "protein_encoder_config", "evolla_protein")}
    heads: dict[str, Head] = {"ForProteinText2Text": "causal_lm", "Model": "base"}
    return keys.decoder_spec(c, layers, heads=heads, parts=parts).replace(tied=False).having(sizes)


def _network(width: int, times: int) -> Block:
    inner = times * width
    return block("mlp", norm=layer_norm(width), fc1=Linear(width, inner), fc2=Linear(inner, width))


def blueprint(s: Spec[Evolla]) -> Block:
    d, of, protein = s.hidden, s.own, s.part("protein")
    heads, p = s.layers[0].layer.attention.heads, protein.hidden
    vision_width = Linear(d, heads * (d // heads), True)
    inner = of.resampler_dim_head * of.resampler_heads
    adapter = block(
        "attention",
        gate_attention=Tensor((1,)),
        gate_ffw=Tensor((1,)),
        query=vision_width,
        key_protein=vision_width,
        value_protein=vision_width,
        attention_norm=rms_norm(d),
        out_proj=Linear(d, d, of.aligner_enable_bias),
        ff=_network(d, of.aligner_ffn_mult),
    )

    def layer_block(layer: Layer) -> Block:
        network = swiglu(d, layer.dense.width, layer.dense.bias)
        return altered(
            pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network),
            adapter=adapter if layer.sizes(EvollaLayer).adapted else None,
        )

    attention = block(
        norm_media=layer_norm(p),
        norm_latents=layer_norm(p),
        to_q=Linear(p, inner),
        to_kv=Linear(p, 2 * inner),
        to_out=Linear(inner, p),
    )
    each = Block({"0": attention, "1": _network(p, of.resampler_ff_mult)})
    resampler = block(
        "projector",
        latents=Tensor((of.resampler_num_latents, p)),
        layers=Repeat(Indices.below(of.resampler_depth), each),
        norm=layer_norm(d),
        protein_projector=Linear(p, d, True),
    )
    encoder = Block({"model": families.tree(protein), "sequence_compressor_resampler": resampler}, repeats=0)
    return with_head(s, altered(base(s, layer_block), protein_encoder=encoder))


class EvollaProtein(Sizes):
    emb_layer_norm_before: bool = flag(absent=False)
    turned: int | None  # elements of a head that are rotated
    rows: int = size("|V_p|", "vocab_size")


def protein_spec(c: Config) -> Spec[EvollaProtein]:
    """Evolla's encoder of proteins, SaProt: ESM-2's layers over residues and structure
    (doi:10.1101/2023.10.01.560349).
    """
    d = c.int("hidden_size")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"))
    crossed = c.bool("add_cross_attention", default=False)
    causal = keys.is_causal(c, crossed)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=True), cross_attention=crossed)
    kind = c.str("position_embedding_type", default="rotary")
    turned = keys.computed(c, "h_r", "head_dim", mixer.head_dim) if kind == "rotary" else None
    sizes = EvollaProtein.read(c, turned=turned)
    places = c.int("max_position_embeddings") if kind == "absolute" else None
    model = keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), hidden=d, positions=places)
    return model.replace(causal=causal, uncounted=keys.ACROSS if crossed else "").having(sizes)


def protein_blueprint(s: Spec[EvollaProtein]) -> Block:
    d, of, norm = s.hidden, s.own, layer_norm(s.hidden)
    square = Linear(d, d, True)

    def layer_block(layer: Layer) -> Block:
        # Norms come before attention and networks.
        projections = block("attention", query=square, key=square, value=square)
        attention = block(self=projections, output=block("attention", dense=square), LayerNorm=norm)
        crossed = attention if layer.cross_attention else None
        back = block("mlp", dense=Linear(layer.dense.width, d, True))
        return altered(bert_layer(d, layer), attention=attention, crossattention=crossed, output=back, LayerNorm=norm)

    tables = block(
        "embedding",
        word_embeddings=embedding(of.rows, d),
        layer_norm=norm if of.emb_layer_norm_before else None,
        position_embeddings=None if s.positions is None else embedding(s.positions, d),
    )
    turned = None if of.turned is None else block(inv_freq=buffer((of.turned + 1) // 2))
    encoder = block(layer=stack(s.layers, layer_block), emb_layer_norm_after=norm)
    return block(embeddings=tables, rotary_embeddings=turned, encoder=encoder)


PARTS = (families.Family(("evolla_protein",), protein_spec, protein_blueprint),)
