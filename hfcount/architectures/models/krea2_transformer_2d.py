"""Krea 2: a transformer that denoises images by a mixture of a language model's layers (Krea, 2026)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import table
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("Krea2Transformer2DModel",)  # diffusers 0.42.1: transformer_krea2.py


class Heads(Record):
    """Heads of queries and of keys, and the elements of each."""

    queries: int
    others: int
    head_dim: int


class Krea2(Sizes):
    """Sizes specific to Krea 2; `heads` are those of its layers, `text_heads` those of the layers that mix the text."""

    in_channels: int = size("C")
    num_layers: int = count("L")
    intermediate_size: int = size("d_ff")
    timestep_embed_dim: int = size("d_s")
    text_hidden_dim: int = size("d_t")
    num_text_layers: int = size("n_t")
    text_intermediate_size: int = size("d_tf")
    num_layerwise_text_blocks: int = count("L_t")
    num_refiner_text_blocks: int = count("L_r")
    heads: Heads
    text_heads: Heads


def spec(c: Config) -> Spec[Krea2]:
    head, heads = c.int("attention_head_dim"), c.int("num_attention_heads")
    axes = sum(c.ints("axes_dims_rope"))
    if axes != head:
        text = f"axes_dims_rope come to {int(axes):,}, and attention_head_dim is {int(head):,}."
        raise c.error("contradiction", text, "axes_dims_rope", "Correct one of them.", observed=int(axes))
    sizes = Krea2.read(c, heads=_heads(c, "", heads * head), text_heads=_heads(c, "text_", c.int("text_hidden_dim")))
    return diffusion.diffusing(c, sizes, sizes.heads.queries * sizes.heads.head_dim)


def _heads(c: Config, prefix: str, width: int) -> Heads:
    name = f"{prefix}num_attention_heads"
    heads = keys.dim(f"h_{prefix[:1]}" if prefix else "h", c.int(name))
    head = keys.divides(c, name, heads, "text_hidden_dim", width) if prefix else c.int("attention_head_dim")
    few = f"{prefix}num_key_value_heads"
    return Heads(
        queries=heads,
        others=heads if c.is_null(few) else keys.dim(f"h_{prefix[:1]}kv", c.int(few)),
        head_dim=head if prefix else keys.dim("h_d", head),
    )


def blueprint(s: Spec[Krea2]) -> Block:
    d, of, text = s.hidden, s.own, s.own.text_hidden_dim
    mixing = _layer(text, of.text_heads, of.text_intermediate_size)
    layer = _layer(d, of.heads, of.intermediate_size)
    fusion = block(
        "embedding",
        layerwise_blocks=Repeat(Indices.below(of.num_layerwise_text_blocks), mixing),
        projector=Linear(of.num_text_layers, 1),
        refiner_blocks=Repeat(Indices.below(of.num_refiner_text_blocks), mixing),
    )
    taken = block("embedding", norm=rms_norm(text), linear_1=Linear(text, d, True), linear_2=Linear(d, d, True))
    return block(
        img_in=Linear(of.in_channels, d, True, "embedding"),
        time_embed=time_embedding(of.timestep_embed_dim, d),
        time_mod_proj=Linear(d, 6 * d, True, "norm"),
        text_fusion=fusion,
        txt_in=taken,
        transformer_blocks=Repeat(
            Indices.below(of.num_layers), Block({"scale_shift_table": table(6, d), **layer.children})
        ),
        final_layer=block(scale_shift_table=table(2, d), norm=rms_norm(d), linear=Linear(d, of.in_channels, True)),
    )


def _layer(d: int, a: Heads, width: int) -> Block:
    square, sizes, norm = Linear(d, d), Linear(d, a.others * a.head_dim), rms_norm(a.head_dim)
    attention = block(
        "attention",
        to_q=Linear(d, a.queries * a.head_dim),
        to_k=sizes,
        to_v=sizes,
        to_gate=square,
        norm_q=norm,
        norm_k=norm,
        to_out=Block({"0": square}),
    )
    network = block("mlp", gate=Linear(d, width), up=Linear(d, width), down=Linear(width, d))
    return block(norm1=rms_norm(d), norm2=rms_norm(d), attn=attention, ff=network)
