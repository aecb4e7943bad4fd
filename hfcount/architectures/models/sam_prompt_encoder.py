"""SAM's prompt encoder: points, boxes and masks as embeddings (arXiv:2304.02643)."""

from hfcount.architectures import keys
from hfcount.architectures.components.sam import frequencies
from hfcount.architectures.layers import embedding, layer_norm
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

# transformers 5.23: modeling_sam.py, modeling_sam_hq.py, modeling_sam2.py, modeling_sam2_video.py,
# modeling_sam3_tracker.py, modeling_sam3_tracker_video.py, modeling_edgetam.py, modeling_edgetam_video.py
MODEL_TYPES = (
    "sam_prompt_encoder",
    "sam_hq_prompt_encoder",
    "sam2_prompt_encoder",
    "sam2_video_prompt_encoder",
    "sam3_tracker_prompt_encoder",
    "sam3_tracker_video_prompt_encoder",
    "edgetam_prompt_encoder",
    "edgetam_video_prompt_encoder",
)
IGNORED = ("image_size", "patch_size", "image_embedding_size", "scale")


class SamPromptEncoder(Sizes):
    """Sizes specific to this architecture."""

    # No multiple of 4 fails where a mask is given, and points and boxes alone do without.
    mask_input_channels: int = size("C_m")
    num_point_embeddings: int = size("n_e")


def spec(c: Config) -> Spec[SamPromptEncoder]:
    sizes = SamPromptEncoder.read(c)
    return keys.encoding(c, (), hidden=c.int("hidden_size")).having(sizes)


def blueprint(s: Spec[SamPromptEncoder]) -> Block:
    d, channels, points = s.hidden, s.own.mask_input_channels, s.own.num_point_embeddings
    first = s.family in ("sam_prompt_encoder", "sam_hq_prompt_encoder")
    masks = block(
        conv1=convolution(1, channels // 4, 2),
        conv2=convolution(channels // 4, channels, 2),
        conv3=convolution(channels, d, 1),
        layer_norm1=layer_norm(channels // 4),
        layer_norm2=layer_norm(channels // 4 * 4),
    )
    each = Repeat(Indices.below(points), embedding(1, d))
    # The first version has the frequencies of places from the image, and the others their own.
    return block(
        "embedding",
        shared_embedding=None if first else frequencies(d // 2),
        mask_embed=masks,
        no_mask_embed=embedding(1, d),
        point_embed=each if first else embedding(points, d),
        not_a_point_embed=embedding(1, d),
    )
