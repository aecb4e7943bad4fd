"""Parts of SAM and its successors (arXiv:2304.02643, arXiv:2408.00714)."""

from collections.abc import Sequence

from hfcount.parts.classic import fc
from hfcount.parts.ffn import mlp
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm
from hfcount.parts.vision import convolution
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, Tied, block

_SEEN = 64  # the width of a memory, for the layers that attend to it


def feed_forward(inputs: int, width: int, outputs: int, depth: int, component: Component = "other") -> Block:
    """A network of `depth` layers, of which all between the first and the last map `width` to itself.

    Tensors: proj_in (width, inputs), layers (width, width), proj_out (outputs, width), with biases.
    """
    between = Repeat(Indices.below(depth - 2), Linear(width, width, True)) if depth > 2 else None
    first, last = Linear(inputs, width, True), Linear(width, outputs, True)
    return block(component, proj_in=first, layers=between, proj_out=last)


def narrowed_attention(d: int, inner: int, out: str, memory: int | None = None) -> Block:
    """Attention of another width than its input. Tensors: q_proj, k_proj, v_proj (inner, d), `out` (d, inner).

    `memory` is the width of the input of keys and values, if it is not d.
    """
    query, seen = Linear(d, inner, True), Linear(memory or d, inner, True)
    return Block({"q_proj": query, "k_proj": seen, "v_proj": seen, out: Linear(inner, d, True)}, "attention")


def two_way(d: int, inner: int, out: str, layer: Sequence[Node], norm: Block | None = None) -> Block:
    """Tokens and image that attend to each other, and tokens to the image once more.

    Tensors: layers, final_attn_token_to_image, of `inner` width, layer_norm_final_attn (d).
    """
    last = narrowed_attention(d, inner, out)
    return block(layers=tuple(layer), final_attn_token_to_image=last, layer_norm_final_attn=norm or layer_norm(d))


def two_way_layer(d: int, inner: int, out: str, network: Block) -> Block:
    """A layer of `two_way`: tokens among themselves, tokens to image, `network`, image to tokens, each with a norm."""
    crossed, norm = narrowed_attention(d, inner, out), layer_norm(d)
    return block(
        self_attn=narrowed_attention(d, d, out),
        layer_norm1=norm,
        cross_attn_token_to_image=crossed,
        layer_norm2=norm,
        mlp=network,
        layer_norm3=norm,
        layer_norm4=norm,
        cross_attn_image_to_token=crossed,
    )


def frequencies(count: int, trained: bool = False) -> Block:
    """Random frequencies that encode a place, a buffer unless trained. Tensors: positional_embedding (2, count)."""
    return block("embedding", positional_embedding=Tensor((2, count), "parameter" if trained else "buffer"))


def shared_frequencies(count: int) -> Tied:
    """The image's frequencies under the prompt encoder's name."""
    return Tied("shared_image_embedding.positional_embedding", (2, count), "embedding", name="positional_embedding")


def mask_downsampler(s: Spec) -> Block:
    """Convolutions that make a mask smaller, each by the same factor, and its channels more by the factor's square.

    Tensors: layers of conv and layer_norm, final_conv.
    """
    of, stages, channels = s.traits, dict[str, Block](), 1
    for number in range(of["mask_stages"]):
        outputs = channels * of["mask_downsampler_stride"] * of["mask_downsampler_stride"]
        conv = convolution(channels, outputs, of["mask_downsampler_kernel_size"])
        stages[str(number)] = block(conv=conv, layer_norm=layer_norm(outputs))
        channels = outputs
    return block(layers=Block(stages), final_conv=convolution(channels, of["mask_downsampler_embed_dim"], 1))


def memory_encoder(s: Spec) -> Block:
    """Features and masks of a frame, fused and made narrower.

    Tensors: mask_downsampler, feature_projection, memory_fuser, projection.
    """
    of, d, fused = s.traits, s.traits["memory_encoder_hidden_size"], s.traits["memory_fuser_embed_dim"]
    wide = of["memory_fuser_intermediate_dim"]
    fuser = block(
        scale=Tensor((fused,)),
        depthwise_conv=convolution(1, fused, of["memory_fuser_kernel_size"]),
        layer_norm=layer_norm(fused),
        pointwise_conv1=Linear(fused, wide, True),
        pointwise_conv2=Linear(wide, fused, True),
    )
    return block(
        "other",
        mask_downsampler=mask_downsampler(s),
        feature_projection=convolution(d, d, 1),
        memory_fuser=block(layers=Repeat(Indices.below(of["memory_fuser_num_layers"]), fuser)),
        projection=convolution(d, of["memory_encoder_output_channels"], 1),
    )


def memory_tokens(s: Spec) -> Block:
    """What a video model learns besides its networks: for places and times of memories, and for what is not there."""
    of, d, kept = s.traits, s.hidden, s.traits["memory_encoder_output_channels"]
    return block(
        "embedding",
        no_memory_positional_encoding=Tensor((1, 1, d)),
        memory_temporal_positional_encoding=Tensor((of["num_maskmem"], 1, 1, kept)),
        no_object_pointer=Tensor((1, d)),
        occlusion_spatial_embedding_parameter=Tensor((1, kept)) if of["occluded"] else None,
    )


def remembered(s: Spec) -> Block:
    """What a video model has besides the image model.

    Tensors: memory_attention, memory_encoder, those of `memory_tokens`, mask_downsample, object_pointer_proj,
    temporal_positional_encoding_projection_layer, and with latents spatial_perceiver.
    """
    of, d, kept = s.traits, s.hidden, s.traits["memory_encoder_output_channels"]
    width, inner, norm = of["width"], of["inner"], layer_norm(of["width"])

    def layer(one: Layer) -> Block:
        wide = one.dense.width
        named = {"mlp": mlp(width, wide, up="up_proj", down="down_proj")}
        return Block(
            {
                "self_attn": narrowed_attention(width, inner, "o_proj"),
                "cross_attn_image": narrowed_attention(width, inner, "o_proj", memory=_SEEN),
                **(named if of["latent"] else fc(width, wide, up="linear1", down="linear2")),
                **block(layer_norm1=norm, layer_norm2=norm, layer_norm3=norm).children,
            }
        )

    more = block(
        memory_attention=block(layers=stack(s.layers, layer), layer_norm=norm),
        memory_encoder=memory_encoder(s),
        mask_downsample=block("other", weight=Tensor((1, 1, 4, 4)), bias=Tensor((1,))),
        object_pointer_proj=feed_forward(d, d, d, 3),
        temporal_positional_encoding_projection_layer=Linear(d, kept, True, "other") if of["pointed"] else None,
        spatial_perceiver=_perceiver(s) if of["latent"] else None,
    )
    return Block({**more.children, **memory_tokens(s).children})


def _perceiver(s: Spec) -> Block:
    """Latents that attend to a memory, and among themselves (arXiv:2501.07256)."""
    of, d, wide = (
        s.traits,
        s.traits["perceiver_resampler_hidden_size"],
        s.traits["perceiver_resampler_mlp_intermediate_size"],
    )
    inner = of["perceiver_resampler_num_attention_heads"] * of["perceiver_resampler_attention_head_dim"]
    into, norm = Linear(d, inner), layer_norm(d)
    attention = block("attention", q_proj=into, k_proj=into, v_proj=into, o_proj=Linear(inner, d))
    network = block(
        layer_norm=norm, up_proj=Linear(d, wide, component="mlp"), down_proj=Linear(wide, d, component="mlp")
    )
    layer = block(
        cross_attention=attention,
        mlp=network,
        self_attention=attention,
        self_mlp=network,
        layer_norm_input=norm,
        layer_norm_latents=norm,
        layer_norm_self=norm,
    )
    line, square = of["perceiver_resampler_num_latents"], of["perceiver_resampler_num_latents_2d"]
    return block(
        latents_1d=Tensor((line, d), component="embedding") if line else None,
        latents_2d=Tensor((square, d), component="embedding") if square else None,
        layers=Repeat(Indices.below(of["perceiver_resampler_num_layers"]), layer),
        layer_norm=norm,
    )
