"""DSpark's stages within a checkpoint of its target: layers that draft a block of tokens from the target's states."""

from collections.abc import Callable
from typing import Self

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, rms_norm, stack
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, block

BESIDE = ("dspark_block_size",)
"""Keys that bear on no shape."""


class Stages(Record):
    """The sizes of DSpark's stages beside their layers.

    Args:
        read: the layers of the model whose states they read, how many.
        rank: of the head that corrects logits by the token before.
        sure: whether a head says how sure the drafts are; a checkpoint may lack it all the same.
    """

    read: int
    rank: int
    sure: bool

    @classmethod
    def read_from(cls, c: Config) -> Self | None:
        """Those of a config; None if it has none."""
        places = c.ints("dspark_target_layer_ids")
        rank = c.int("dspark_markov_rank", default=0, minimum=0)
        if not places or not rank:
            return None
        sure = c.bool("enable_confidence_head", default=True)
        return cls(read=keys.dim("n_t", len(places)), rank=keys.dim("r_m", rank), sure=sure)

    def layers(self, c: Config, text: Config, layer: Layer, key: str = "num_nextn_predict_layers") -> dict[str, Spec]:
        """The stages as layers like `layer`, as the part `mtp`; they may have fewer experts than the model's.

        Args:
            c: where the keys of the stages are.
            text: the language model's config.
            key: of how many stages there are; if it is absent, as many as layers whose states they read.
        """
        count = c.int(key, default=int(self.read), minimum=1, maximum=MAX_LAYERS)
        many, few = (
            c.int(f"dspark_{key}", default=0, minimum=0) for key in ("n_routed_experts", "num_experts_per_tok")
        )
        moe = layer.moe
        routed = layer.replace(ffn=moe.replace(experts=many or moe.experts, active=few or moe.active))
        between = Indices.span(1, max(1, count - 1))
        if count == 1:
            return keys.ahead(text, [Layers(indices=Indices.below(1), layer=routed.replace(first=True, last=True))])
        ends = [
            Layers(indices=Indices.below(1), layer=routed.replace(first=True)),
            *([Layers(indices=between, layer=routed)] if between.count else []),
            Layers(indices=Indices.span(count - 1, count), layer=routed.replace(last=True)),
        ]
        return keys.ahead(text, ends)

    def tensors(
        self,
        s: Spec,
        layer: Callable[[Layer], Block],
        ends: tuple[str, str] = ("embed", "head"),
        **last: Node,
    ) -> tuple[Node, ...]:
        """The stages by number.

        Tensors besides the layer's: main_proj (d, n_t·d) and main_norm (d) of the first; norm (d), markov_head.embed
        and markov_head.head (|V|, r_m), by the names in `ends`, confidence_head.proj (1, d + r_m) and those that
        `last` has of the last.
        """
        d = s.hidden
        entrance = block(main_proj=Linear(self.read * d, d), main_norm=rms_norm(d))
        markov = Block(dict(zip(ends, (embedding(s.vocab, self.rank), Linear(self.rank, s.vocab)), strict=True)))
        sure = block(proj=Linear(d + self.rank, 1)) if self.sure else None
        end = block(norm=rms_norm(d), markov_head=markov, confidence_head=sure, **last)

        def stage(part: Layer) -> Block:
            first = entrance.children if part.first else {}
            return Block({**first, **layer(part).children, **(end.children if part.last else {})}, "mtp")

        return stack(s.stack("mtp"), stage)
