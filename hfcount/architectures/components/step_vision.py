"""Parts that Step's vision towers share: CLIP's layers by OpenAI's names, and two downsampling convolutions."""

from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.vision import convolution
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block


def layers_and_downsamplers(s: Spec, scaled: bool = True) -> dict[str, Node]:
    """The layers and the downsampling convolutions behind them, for a width of d.

    Tensors of a layer: ln_1 and ln_2 (d), attn.in_proj (3d, d) and out_proj (d, d), mlp.c_fc and c_proj, all with bias,
    and ls_1.gamma and ls_2.gamma (d) if `scaled`. Then kernels of 3 by 3 from d to 2d, and from 2d to 4d.
    """
    d = s.hidden
    scale = block("other", gamma=Tensor((d,))) if scaled else None
    fused = block(
        "attention",
        in_proj_weight=Tensor((3 * d, d)),
        in_proj_bias=Tensor((3 * d,)),
        out_proj=Linear(d, d, bias=True),
    )

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, up="c_fc", down="c_proj")
        return block(ln_1=layer_norm(d), ln_2=layer_norm(d), attn=fused, mlp=network, ls_1=scale, ls_2=scale)

    return {
        "transformer": block(resblocks=stack(s.layers, layer_block)),
        "vit_downsampler1": convolution(d, 2 * d, 3),
        "vit_downsampler2": convolution(2 * d, 4 * d, 3),
    }
