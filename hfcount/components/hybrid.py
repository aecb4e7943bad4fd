"""RT-DETR and those with its keys: an encoder of several levels, and queries found in its output (arXiv:2304.08069)."""

from collections.abc import Mapping

from hfcount.keys import sized
from hfcount.keys.detection import channels, chosen, detecting
from hfcount.keys.model import Heads
from hfcount.mapper import Config
from hfcount.parts.convolution import frozen
from hfcount.parts.detection import perceptron
from hfcount.parts.hybrid import cross_stage, hybrid_encoder, normed_linear, projected
from hfcount.parts.model import embedding
from hfcount.spec import Sizes, Spec, flag, size, told
from hfcount.tree.nodes import Block, Linear, block


def denoising(c: Config) -> bool:
    """Whether there is a table of labels whose noise is taken away in training."""
    return c.int("num_denoising", minimum=0) > 0


class Hybrid(Sizes):
    """The levels of an encoder: `upper` are the widths of the backbone's features, `lower` those for the decoder."""

    upper: tuple[int, ...]
    lower: tuple[int, ...]
    num_queries: int = size("n_q")
    frozen: bool = flag("freeze_backbone_batch_norms", absent=True)
    encoder_fused: int = told(
        lambda c: sized("d_h", c.times("hidden_expansion", c.int("encoder_hidden_dim"), default=1.0))
    )
    levels: int = told(lambda c: len(c.ints("encoder_in_channels", default=(512, 1024, 2048))))
    attended: int = told(lambda c: len(c.ints("encode_proj_layers", default=(2,))))
    num_feature_levels: int = size("n_l")
    decoder_n_points: int = size("n_s")

    @property
    def points(self) -> int:
        """The points of all levels that a head of the decoder looks at."""
        return self.num_feature_levels * self.decoder_n_points

    def encoder(self, inner: Spec) -> Block:
        """The encoder with the layers of `inner`; see `hybrid_encoder`."""
        return hybrid_encoder(inner, self.levels, self.attended, cross_stage(inner.hidden, self.encoder_fused))

    def tensors(
        self,
        s: Spec,
        backbone: Block,
        decoder: Block,
        *,
        labelled: int | None,
        learned: bool = False,
        coordinates: int = 4,
        encoder: Block | None = None,
    ) -> Block:
        """RT-DETR without what its class adds, over a backbone.

        Args:
            labelled: the rows of the table of labels whose noise is taken away in training, if there is one.
            learned: whether queries begin with a table of their own.
            coordinates: how many describe a place.
            encoder: the encoder, if it is not RT-DETR's.
        """
        d, inner = s.hidden, s.parts["encoder"]
        return block(
            backbone=block(model=frozen(backbone) if self.frozen else backbone),
            encoder_input_proj=projected(self.upper, inner.hidden),
            encoder=encoder or self.encoder(inner),
            denoising_class_embed=None if labelled is None else embedding(labelled, d),
            weight_embedding=embedding(self.num_queries, d) if learned else None,
            enc_output=normed_linear(d),
            enc_score_head=Linear(d, s.labels, True, "other"),
            enc_bbox_head=perceptron(d, d, d, coordinates),
            decoder_input_proj=projected(self.lower, d, max(0, int(self.num_feature_levels) - len(self.lower))),
            decoder=decoder,
        )


def hybrid(
    c: Config, heads: Heads, backbone: Spec, *, first: int = 0, parts: Mapping[str, Spec] | None = None
) -> Spec[Hybrid]:
    """A detector with such an encoder; `first` is the number of the first of the backbone's features that it takes."""
    inner = c.part("backbone_config")
    none = inner.given("out_features") and not inner.strs("out_features")
    widths = [] if none else channels(chosen(inner), backbone)[first:]
    lower = c.ints("decoder_in_channels", default=(256, 256, 256), least=1, minimum=0)
    own = Hybrid.read(
        c, upper=tuple(widths), lower=tuple(sized(f"C{number}", width) for number, width in enumerate(lower, 1))
    )
    return detecting(c, heads, backbone, own, parts=parts, inside="encoder_hidden_dim")
