"""ACT, a policy that predicts chunks of actions by a transformer, trained as a variational autoencoder."""

from hfcount.architectures import keys
from hfcount.architectures.components.masks import fused_attention
from hfcount.architectures.components.resnets import ResNet
from hfcount.architectures.components.robots import Features, backbone
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.convolution import conv, frozen
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("lerobot_act",)  # modeling_act.py of huggingface/lerobot, 0.4.4
IGNORED = (
    "n_obs_steps",
    "n_action_steps",
    "temporal_ensemble_coeff",
    "kl_weight",
    "replace_final_stride_with_dilation",
)

_NO_TOKENS = "it gives a chunk of actions at once, and no tokens"


class Act(Sizes):
    features: Features
    chunk_size: int = size("n_c", absent=100)
    latent_dim: int = size("d_z", absent=32)
    use_vae: bool = flag(absent=True)
    pre_norm: bool = flag(absent=False)


def spec(c: Config) -> Spec[Act]:
    features = Features.read(c)
    features.check_seen(c)
    seeing = backbone(c) if features.images else None
    if seeing and not seeing.own.deep and c.value("replace_final_stride_with_dilation"):
        text = "replace_final_stride_with_dilation is set, which a backbone of plain layers does not take."
        raise c.error("contradiction", text, "replace_final_stride_with_dilation", "Set it to false.")
    d = c.int("dim_model", default=512)
    mixer = keys.multi_head(c, d, c.int("n_heads", default=8))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("dim_feedforward", default=3200), bias=True))

    def part(key: str, default: int) -> Spec:
        number = c.int(key, default=default, minimum=0, maximum=MAX_LAYERS)
        layers = tuple(keys.uniform(layer, number))
        return Spec(family=c.family, hidden=d, layers=layers, causal=False, uncounted=_NO_TOKENS)

    sizes = Act.read(c, features=features)
    parts = {"decoder": part("n_decoder_layers", 1)} | ({"backbone": seeing} if seeing else {})
    if sizes.use_vae:
        parts["reading"] = part("n_vae_encoder_layers", 4)
    return part("n_encoder_layers", 4).replace(parts=parts).having(sizes)


def blueprint(s: Spec[Act]) -> Block:
    sizes, features, d = s.own, s.own.features, s.hidden
    children = dict(_variational(s).children) if sizes.use_vae else {}
    if features.images:
        network = s.part("backbone")
        children["backbone"] = frozen(Block(network.sizes(ResNet).tensors(network.layers), "vision"))
        children["encoder_img_feat_input_proj"] = conv(network.hidden, d, 1, bias=True)
    for name, width in (("robot", features.state), ("env", features.environment)):
        if width is not None:
            children[f"encoder_{name}_state_input_proj"] = Linear(width, d, True, "projector")
    tokens = 1 + (features.state is not None) + (features.environment is not None)
    model = block(
        encoder=_encoder(s, sizes),
        decoder=block(layers=stack(s.part("decoder").layers, lambda layer: _layer(d, layer, True)), norm=layer_norm(d)),
        encoder_latent_input_proj=Linear(sizes.latent_dim, d, True, "projector"),
        encoder_1d_feature_pos_embed=embedding(tokens, d),
        decoder_pos_embed=embedding(sizes.chunk_size, d),
        action_head=Linear(d, features.action, True, "projector"),
    )
    return block(model=Block({**children, **model.children}))


def _encoder(s: Spec[object], sizes: Act) -> Block:
    """A stack of layers, with a norm after them only where there are norms before their parts."""
    return block(
        layers=stack(s.layers, lambda layer: _layer(s.hidden, layer)),
        norm=layer_norm(s.hidden) if sizes.pre_norm else None,
    )


def _layer(d: int, layer: Layer, crossing: bool = False) -> Block:
    """A layer as torch names it: self_attn, linear1, linear2 and a norm for each; `crossing`, multihead_attn."""
    width, norm = layer.dense.width, layer_norm(d)
    return block(
        self_attn=fused_attention(d),
        multihead_attn=fused_attention(d) if crossing else None,
        linear1=Linear(d, width, True, "mlp"),
        linear2=Linear(width, d, True, "mlp"),
        norm1=norm,
        norm2=norm,
        norm3=norm if crossing else None,
    )


def _variational(s: Spec[Act]) -> Block:
    """What reads the actions in training: an encoder, its inputs and the two halves of the latent."""
    sizes, features, d = s.own, s.own.features, s.hidden
    tokens = 1 + sizes.chunk_size + (features.state is not None)
    into = None if features.state is None else Linear(features.state, d, True, "projector")
    return block(
        vae_encoder=_encoder(s.part("reading"), sizes),
        vae_encoder_cls_embed=embedding(1, d),
        vae_encoder_robot_state_input_proj=into,
        vae_encoder_action_input_proj=Linear(features.action, d, True, "projector"),
        vae_encoder_latent_output_proj=Linear(d, 2 * sizes.latent_dim, True, "projector"),
        vae_encoder_pos_enc=buffer(1, tokens, d),
    )
