"""The rules HF501 to HF506: how packed weights are stored."""

from hfcount.verifier.rule import Rule

STORAGE_RULES = (
    Rule(
        "HF501",
        "unmodelled-storage",
        "note",
        "The weights are quantised in a way that hfcount does not model: counted from the config, not verified.",
        "Packed tensors have other names, shapes and dtypes than the model's parameters.",
        "Verify the checkpoint it was made from.",
        "the weights are quantised with {observed}, which is not modelled: the parameters are counted from the"
        " config, and the stored tensors are not held against it.",
        proof="lost",
    ),
    Rule(
        "HF502",
        "packed-differently",
        "error",
        "A module is packed though the config excludes it, dense though it does not, or packed in another way.",
        "A list of excluded modules that does not name what was done, or a module added or converted afterwards.",
        "Make the list of excluded modules name what is dense, and nothing else, or convert again.",
        "[extra?{count:tensor} {count:is|are} stored beside the model's own][dense?{count:module} {count:is|are}"
        " stored dense, and {source} packs {count:it|them} ({wanted})][packed?{count:module} {count:is|are} packed"
        " ({own}), and {source} leaves {count:it|them} dense][other?{count:module} {count:is|are} packed ({own}),"
        " and {source} packs {count:it|them} otherwise ({wanted})][unlisted?{count:module} {count:is|are} stored"
        " dense, and {source} does not say so]: {tensors}.[error? A loader builds what {source} says, and finds"
        " other tensors.][unseen? If they are packed all the same, their scales are lost: headers tell.][why? That"
        " is harmless: {why}.]",
    ),
    Rule(
        "HF503",
        "scale-missing",
        "error",
        "A packed tensor has no scale, zero point or index beside it that its scheme needs.",
        "A conversion, a merge or a filter of names that kept the weights and dropped what belongs to them.",
        "Restore them from the checkpoint that they were made from: without them the weights mean nothing.",
        "[layout?{modules:module} {modules:is|are} packed ({layout}) and {modules:lacks|lack} what belongs to"
        " {modules:it|them}: {tensors}][cached?{count:scale} of the 8-bit cache of keys and values {count:is|are}"
        " missing][others?, and other layers have theirs][cached?: {tensors}]. A loader that goes on takes 1 for"
        " [layout?it][cached?{count:it|them}], or what was in memory.",
    ),
    Rule(
        "HF504",
        "quantization-config-stale",
        "error",
        "A quantisation is announced and nothing is packed, or the reverse, or two files contradict each other.",
        "Weights that were converted back, or packed, and a config that was copied.",
        "Make the config say what is stored.",
        "[nothing?{source} announces {scheme}, and all {count:module} that it packs {count:is|are} stored dense,"
        " with no scale beside any: {tensors}][packed?nothing announces a quantisation, and the weights are"
        " quantised with {scheme}: loaders do not know such tensors][contradiction?{source} and {other} contradict"
        " each other: {first}, and {second}].",
    ),
    Rule(
        "HF505",
        "quantization-settings-contradict",
        "error",
        "A number of the quantisation's settings is ruled out by a name beside it.",
        "An edit by hand, or settings that were put together from those of two checkpoints.",
        "Set the number to what the name means if the weights were packed so.",
        "{source}{place} is {found}, and {by} means {wanted}. Some loaders go by the name and others by the"
        " number, and these refuse the weights or misread them.",
    ),
    Rule(
        "HF506",
        "expert-scales-fused",
        "note",
        "The scales of a layer's experts are one tensor, and no tensor of weights has its name.",
        "transformers 5 splits the weights of experts when it saves a mixture in FP8, and leaves their scales as they"
        " are in memory.",
        "Split the scales, one for each weight, for other loaders.",
        "{count:tensor} {count:has|have} the scales of all experts of a layer, and the weights that they belong to have"
        " other names: {tensors}. transformers 5 saves mixtures so and loads them; vLLM, SGLang and others look for a"
        " scale beside each weight.",
        divides=True,
    ),
)
