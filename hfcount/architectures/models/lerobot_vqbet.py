"""VQ-BeT, a policy that predicts codes of actions, as a quantising autoencoder makes them (arXiv:2403.03181)."""

from hfcount.architectures import keys
from hfcount.architectures.components.robots import Features, Keypoints, backbone, crop
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Repeat, Tensor, block, buffer

MODEL_TYPES = ("lerobot_vqbet",)  # modeling_vqbet.py of huggingface/lerobot, 0.4.4; vqbet_utils.py beside it
IGNORED = (
    "crop_is_random", "n_vqvae_training_steps", "offset_loss_weight", "primary_code_loss_weight",
    "secondary_code_loss_weight", "bet_softmax_temperature",
)  # fmt: skip

_CODES = 2  # codes of an action, one after the other


class Vqbet(Sizes):
    features: Features
    keypoints: Keypoints
    n_obs_steps: int = size("n_o", absent=5)
    n_action_pred_token: int = size("n_t", absent=3)
    action_chunk_size: int = size("n_c", absent=5)
    vqvae_n_embed: int = size("n_v", absent=16)
    vqvae_embedding_dim: int = size("d_c", absent=256)
    vqvae_enc_hidden_dim: int = size("d_h", absent=128)
    gpt_block_size: int = size("n_p", absent=500)
    gpt_input_dim: int = size("d_i", absent=512)
    gpt_output_dim: int = size("d_o", absent=512)
    sequentially_select: bool = flag(absent=False)


def spec(c: Config) -> Spec[Vqbet]:
    features = Features.read(c)
    features.robot_state(c)
    if len(features.images) != 1:
        text = f"input_features has {len(features.images):,} images, but must have one."
        raise c.error("contradiction", text, "input_features")
    default = None if c.has("crop_shape") else (84, 84)
    keypoints = Keypoints.read(c, crop(c, features.images[0], default))
    d = c.int("gpt_hidden_dim", default=512)
    mixer = keys.multi_head(c, d, c.int("gpt_n_head", default=8))
    layers = keys.uniform(
        Layer(mixer=mixer, ffn=Dense(width=4 * d, bias=True)), c.int("gpt_n_layer", default=8, maximum=MAX_LAYERS)
    )
    sizes = Vqbet.read(c, features=features, keypoints=keypoints)
    return Spec(family=c.family, hidden=d, layers=tuple(layers), parts={"backbone": backbone(c)}).having(sizes)


def blueprint(s: Spec[Vqbet]) -> Block:
    sizes, d = s.own, s.own.gpt_input_dim
    steps = sizes.n_obs_steps + sizes.n_action_pred_token - 1
    return block(
        vqbet=block(
            action_token=Tensor((1, 1, d), component="embedding"),
            select_target_actions_indices=buffer(steps, sizes.action_chunk_size, whole=True),
            rgb_encoder=sizes.keypoints.tensors(s.part("backbone")),
            state_projector=_last("projector", sizes.features.state or 0, d),
            rgb_feature_projector=_last("projector", sizes.keypoints.width, d),
            policy=_gpt(s),
            action_head=_head(sizes),
        )
    )


def _last(component: Component, inputs: int, out: int) -> Block:
    return Block({"0": Linear(inputs, out, True)}, component)


def _gpt(s: Spec[Vqbet]) -> Block:
    """The transformer, whose masks are stored."""
    sizes, d = s.own, s.hidden
    mask = buffer(1, 1, sizes.gpt_block_size, sizes.gpt_block_size)

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            ln_1=layer_norm(d),
            attn=block("attention", bias=mask, c_attn=Linear(d, 3 * d, True), c_proj=Linear(d, d, True)),
            ln_2=layer_norm(d),
            mlp=Block({"0": Linear(d, width, True), "2": Linear(width, d, True)}, "mlp"),
        )

    transformer = block(
        wte=Linear(sizes.gpt_input_dim, d, True, "projector"),
        wpe=embedding(sizes.gpt_block_size, d),
        h=stack(s.layers, layer_block),
        ln_f=layer_norm(d),
    )
    return block(transformer=transformer, lm_head=Linear(d, sizes.gpt_output_dim, component="lm_head"))


def _head(sizes: Vqbet) -> Block:
    """What gives codes and offsets, and the autoencoder of the actions."""
    d, entries, actions = sizes.gpt_output_dim, sizes.vqvae_n_embed, sizes.action_chunk_size * sizes.features.action
    if sizes.sequentially_select:
        codes = block(
            map_to_cbet_preds_primary_bin=_last("projector", d, entries),
            map_to_cbet_preds_secondary_bin=_last("projector", d + entries, entries),
        )
    else:
        codes = block(map_to_cbet_preds_bin=_last("projector", d, _CODES * entries))
    offsets = _last("projector", d, _CODES * entries * actions)
    return Block({"vqvae_model": _autoencoder(sizes, actions), **codes.children, "map_to_cbet_preds_offset": offsets})


def _autoencoder(sizes: Vqbet, actions: int) -> Block:
    code, inner = sizes.vqvae_embedding_dim, sizes.vqvae_enc_hidden_dim
    table = buffer(1, sizes.vqvae_n_embed, code)
    book = block(initted=buffer(1), cluster_size=buffer(1, sizes.vqvae_n_embed), embed_avg=table, embed=table)
    return block(
        "other",
        discretized=buffer(whole=True),
        vq_layer=block(freeze_codebook=buffer(whole=True), layers=Repeat(Indices.below(_CODES), block(_codebook=book))),
        encoder=_three(actions, inner, code),
        decoder=_three(code, inner, actions),
    )


def _three(inputs: int, inner: int, out: int) -> Block:
    return Block({"0": Linear(inputs, inner, True), "2": Linear(inner, inner, True), "4": Linear(inner, out, True)})
