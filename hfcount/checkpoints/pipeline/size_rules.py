"""Rules between the sizes of a pipeline's parts, from the code of diffusers 0.42.1.

A rule is `key = sum`: keys are written part.key, `a|b` is the first key that is set, `pipeline` is model_index.json,
and `or` stands between sums that will both do. `area(key)` are the pixels that a latent of as many levels stands for,
`sum(key)` is the sum of a list. Rules for one part alone are of sizes that its class takes and cannot run. The length
that tokenizer_config.json has is a key of the tokenizer.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    """One row.

    Args:
        pipelines: a pattern of the classes that it holds for.
        rule: the key, and what it has to be.
        source: a file below diffusers/pipelines, and the line that makes use of both.
        when: a key that has to be set and not false, or a part that has to be there; after `not` the opposite.
    """

    pipelines: str
    rule: str
    source: str
    when: str = ""


_SD = (
    r"StableDiffusion(?!XL|3|ImageVariation)\w*|StableUnCLIP\w*|AnimateDiff(?!SDXL)\w*|TextToVideo(SD|Zero)"
    r"Pipeline|VideoToVideoSDPipeline|LatentConsistencyModel\w*|SemanticStableDiffusionPipeline|CycleDiffusionPipeline|"
    r"LEditsPPPipelineStableDiffusion"
)
_XL = r"StableDiffusionXL\w*|AnimateDiffSDXLPipeline|LEditsPPPipelineStableDiffusionXL|TextToVideoZeroSDXLPipeline"
_PLAIN = rf"(?!.*(Inpaint(ing)?(PAG)?Pipeline$|Pix2PixPipeline|Depth2Img|Upscale))({_SD}|{_XL})"
_INPAINT = rf"(?=.*InpaintPipeline$)({_SD}|{_XL})"
_CONTROLLED = r"(StableDiffusion(XL)?|AnimateDiff(VideoToVideo)?)ControlNet(?!XS)\w*"
_SD3 = r"StableDiffusion3\w*"
_FLUX = r"Flux(Pipeline|Img2Img|Inpaint|Kontext|Control|Fill)\w*|VisualCloze\w*"
_FLUX_PLAIN = r"Flux(Pipeline|Img2ImgPipeline|InpaintPipeline|Kontext\w*|ControlNet\w*)"
_WAN = r"(Wan|SkyReelsV2|LucyEdit|ChronoEdit)\w*"
_WAN_PLAIN = r"Wan(Pipeline|VideoToVideoPipeline|VACEPipeline)|SkyReelsV2(?!ImageToVideo)\w*"
_WAN_IMAGE = r"WanImageToVideoPipeline|WanAnimatePipeline|SkyReelsV2ImageToVideoPipeline|ChronoEditPipeline"
_QWEN = r"QwenImage(?!21)\w*"
_HUNYUAN = r"Hunyuan(Video(?!15)|Skyreels)\w*"
_COGVIDEO = r"CogVideoX\w*"
_PIXART, _SANA, _FLUX2, _Z = r"PixArt\w*", r"Sana(?!WM)\w*", r"Flux2\w*", r"ZImage\w*"
_KANDINSKY5 = r"Kandinsky5\w*"
_CONTROLLED_FLOW = r"(Flux|StableDiffusion3)ControlNet\w*"
_CASCADE_PRIOR, _CASCADE = "StableCascadePriorPipeline", "StableCascadeDecoderPipeline"
_HEADS = "transformer.num_attention_heads * transformer.attention_head_dim"
_LATENT, _WIDTH = "vae.latent_channels|z_dim", "text_encoder.text_config.hidden_size|hidden_size|d_model"

_UNETS = (
    Rule(_SD, "unet.cross_attention_dim = text_encoder.hidden_size",
         "stable_diffusion/pipeline_stable_diffusion.py:1045", "not unet.encoder_hid_dim"),
    Rule(_SD, "unet.encoder_hid_dim = text_encoder.hidden_size",
         "stable_diffusion/pipeline_stable_diffusion.py:1045", "unet.encoder_hid_dim"),
    Rule(_PLAIN, f"unet.in_channels = {_LATENT}", "stable_diffusion/pipeline_stable_diffusion.py:998"),
    Rule(rf"(?!.*LatentUpscale)({_SD}|{_XL})", f"unet.out_channels = {_LATENT}",
         "stable_diffusion/pipeline_stable_diffusion.py:1062"),
    Rule(_INPAINT, f"unet.in_channels = {_LATENT} or 2 * {_LATENT} + 1",
         "stable_diffusion/pipeline_stable_diffusion_inpaint.py:1228"),
    Rule(r"StableDiffusion(XL)?InstructPix2PixPipeline|StableDiffusionLatentUpscalePipeline|StableVideoDiffusionPipeline",
         f"unet.in_channels = 2 * {_LATENT}", "stable_diffusion/pipeline_stable_diffusion_instruct_pix2pix.py:402"),
    Rule("StableDiffusionDepth2ImgPipeline", f"unet.in_channels = {_LATENT} + 1",
         "stable_diffusion/pipeline_stable_diffusion_depth2img.py:846"),
    Rule("StableDiffusionUpscalePipeline", f"unet.in_channels = {_LATENT} + 3",
         "stable_diffusion/pipeline_stable_diffusion_upscale.py:729"),
    Rule("StableDiffusionImageVariationPipeline|StableVideoDiffusionPipeline",
         "unet.cross_attention_dim = image_encoder.projection_dim",
         "stable_video_diffusion/pipeline_stable_video_diffusion.py:221"),
    Rule("StableVideoDiffusionPipeline", "image_encoder.image_size = 224",
         "stable_video_diffusion/pipeline_stable_video_diffusion.py:207"),
    Rule(r"Kandinsky(V22)?Prior\w*", "prior.num_embeddings = tokenizer.model_max_length",
         "kandinsky2_2/pipeline_kandinsky2_2_prior.py:279"),
    Rule("StableVideoDiffusionPipeline", f"unet.out_channels = {_LATENT}",
         "stable_video_diffusion/pipeline_stable_video_diffusion.py:606"),
    Rule(_XL, "unet.cross_attention_dim = text_encoder.hidden_size + text_encoder_2.hidden_size",
         "stable_diffusion_xl/pipeline_stable_diffusion_xl.py:421", "text_encoder"),
    Rule(_XL, "unet.cross_attention_dim = text_encoder_2.hidden_size",
         "stable_diffusion_xl/pipeline_stable_diffusion_xl_img2img.py:439", "not text_encoder"),
    Rule(_XL, "unet.projection_class_embeddings_input_dim = 6 * unet.addition_time_embed_dim"
         " + text_encoder_2.projection_dim",
         "stable_diffusion_xl/pipeline_stable_diffusion_xl.py:737", "not pipeline.requires_aesthetics_score"),
    Rule(_XL, "unet.projection_class_embeddings_input_dim = 5 * unet.addition_time_embed_dim"
         " + text_encoder_2.projection_dim",
         "stable_diffusion_xl/pipeline_stable_diffusion_xl_img2img.py:867", "pipeline.requires_aesthetics_score"),
    Rule(_CONTROLLED, "controlnet.cross_attention_dim = unet.cross_attention_dim",
         "controlnet/pipeline_controlnet.py:1275"),
    Rule(_CONTROLLED, "controlnet.block_out_channels = unet.block_out_channels",
         "controlnet/pipeline_controlnet.py:1299"),
    Rule(_CONTROLLED, "controlnet.layers_per_block = unet.layers_per_block", "controlnet/pipeline_controlnet.py:1299"),
    Rule(_CONTROLLED, f"controlnet.in_channels = {_LATENT}", "controlnet/pipeline_controlnet.py:1299"),
    Rule(_CONTROLLED, "controlnet.projection_class_embeddings_input_dim = unet.projection_class_embeddings_input_dim",
         "controlnet/pipeline_controlnet_sd_xl.py:1494"),
    Rule("StableVideoDiffusionPipeline",
         "unet.projection_class_embeddings_input_dim = 3 * unet.addition_time_embed_dim",
         "stable_video_diffusion/pipeline_stable_video_diffusion.py:279"),
    Rule(r"KandinskyV22(Img2Img)?Pipeline", "unet.in_channels = movq.vq_embed_dim|latent_channels",
         "kandinsky2_2/pipeline_kandinsky2_2.py:264"),
    Rule("KandinskyV22InpaintPipeline", "unet.in_channels = 2 * movq.vq_embed_dim|latent_channels + 1",
         "kandinsky2_2/pipeline_kandinsky2_2_inpainting.py:482"),
    Rule(r"KandinskyV22(Img2Img|Inpaint)?Pipeline", "unet.out_channels = 2 * movq.vq_embed_dim|latent_channels",
         "kandinsky2_2/pipeline_kandinsky2_2.py:273"),
    Rule(r"KandinskyV22(Img2Img|Inpaint)?Pipeline", "movq.vq_embed_dim = movq.latent_channels",
         "kandinsky2_2/pipeline_kandinsky2_2.py:264", "movq.vq_embed_dim"),
    Rule(r"AnimateDiff\w*", "motion_adapter.block_out_channels = unet.block_out_channels",
         "animatediff/pipeline_animatediff.py:138"),
    Rule(r"IF\w*|Kandinsky3\w*", "unet.encoder_hid_dim = text_encoder.d_model", "deepfloyd_if/pipeline_if.py:720"),
    Rule(r"Kandinsky(V22)?Prior\w*", "prior.embedding_dim = text_encoder.projection_dim",
         "kandinsky/pipeline_kandinsky_prior.py:506"),
    Rule(r"Kandinsky(V22)?Prior\w*", "prior.embedding_dim = text_encoder.hidden_size",
         "kandinsky/pipeline_kandinsky_prior.py:507"),
)  # fmt: skip

_IMAGES = (
    Rule(_CASCADE, "decoder.in_channels = vqgan.latent_channels",
         "stable_cascade/pipeline_stable_cascade.py:485"),
    Rule(_CASCADE, "decoder.out_channels = vqgan.latent_channels",
         "stable_cascade/pipeline_stable_cascade.py:501"),
    Rule(_CASCADE, "decoder.clip_text_pooled_in_channels = text_encoder.projection_dim",
         "stable_cascade/pipeline_stable_cascade.py:485"),
    Rule(_CASCADE_PRIOR, "prior.clip_text_in_channels = text_encoder.hidden_size",
         "stable_cascade/pipeline_stable_cascade_prior.py:598"),
    Rule(_CASCADE_PRIOR, "prior.clip_text_pooled_in_channels = text_encoder.projection_dim",
         "stable_cascade/pipeline_stable_cascade_prior.py:598"),
    Rule(_CASCADE_PRIOR, "prior.out_channels = prior.in_channels",
         "stable_cascade/pipeline_stable_cascade_prior.py:617"),
    Rule(rf"{_SD3}|AuraFlowPipeline", f"transformer.caption_projection_dim = {_HEADS}",
         "stable_diffusion_3/pipeline_stable_diffusion_3.py:1074"),
    Rule(rf"{_PIXART}|LTX(?!2)\w*|Latte\w*|Sana(Pipeline|PAG|Sprint|ControlNet)\w*",
         f"transformer.cross_attention_dim = {_HEADS}",
         "pixart_alpha/pipeline_pixart_alpha.py:932"),
    Rule(rf"{_FLUX}|Chroma\w*|{_QWEN}", "transformer.attention_head_dim = sum(transformer.axes_dims_rope)",
         "flux/pipeline_flux.py:901"),
    Rule(_HUNYUAN, "transformer.attention_head_dim = sum(transformer.rope_axes_dim)",
         "hunyuan_video/pipeline_hunyuan_video.py:679"),
    Rule("Lumina2Pipeline",
         "transformer.hidden_size = transformer.num_attention_heads * sum(transformer.axes_dim_rope)",
         "lumina2/pipeline_lumina2.py:677"),
    Rule(r"CogView(4\w*|3Plus)Pipeline", f"transformer.out_channels = {_LATENT}", "cogview4/pipeline_cogview4.py:646",
         "transformer.out_channels"),
    Rule(r"DiTPipeline|LattePipeline", f"transformer.out_channels = {_LATENT} or 2 * {_LATENT}",
         "dit/pipeline_dit.py:218", "transformer.out_channels"),
    Rule(r"AuraFlowPipeline|Lumina2Pipeline", f"transformer.out_channels = {_LATENT}",
         "aura_flow/pipeline_aura_flow.py:640", "transformer.out_channels"),
    Rule(_CONTROLLED_FLOW, "controlnet.in_channels = transformer.in_channels",
         "flux/pipeline_flux_controlnet.py:1107"),
    Rule(_CONTROLLED_FLOW, "controlnet.joint_attention_dim = transformer.joint_attention_dim",
         "flux/pipeline_flux_controlnet.py:1107"),
    Rule(_CONTROLLED_FLOW, "controlnet.pooled_projection_dim = transformer.pooled_projection_dim",
         "flux/pipeline_flux_controlnet.py:1107"),
    Rule(_SD3, "transformer.pooled_projection_dim = text_encoder.projection_dim + text_encoder_2.projection_dim",
         "stable_diffusion_3/pipeline_stable_diffusion_3.py:464"),
    Rule(_SD3, "transformer.joint_attention_dim = text_encoder_3.d_model",
         "stable_diffusion_3/pipeline_stable_diffusion_3.py:463"),
    Rule(_SD3, f"transformer.in_channels = {_LATENT}", "stable_diffusion_3/pipeline_stable_diffusion_3.py:1002"),
    Rule(_SD3, f"transformer.out_channels = {_LATENT}", "stable_diffusion_3/pipeline_stable_diffusion_3.py:1113"),
    Rule(rf"{_FLUX}|Chroma\w*|Bria(?!Fibo)\w*", "transformer.joint_attention_dim = text_encoder.d_model",
         "chroma/pipeline_chroma.py:240", "not text_encoder_2"),
    Rule(_FLUX, "transformer.joint_attention_dim = text_encoder_2.d_model", "flux/pipeline_flux.py:254"),
    Rule(_FLUX, "transformer.pooled_projection_dim = text_encoder.hidden_size", "flux/pipeline_flux.py:303"),
    Rule(rf"{_FLUX_PLAIN}|Chroma\w*", f"transformer.in_channels = 4 * {_LATENT}", "flux/pipeline_flux.py:810"),
    Rule(rf"{_FLUX_PLAIN}|Chroma\w*", f"transformer.out_channels = 4 * {_LATENT}", "flux/pipeline_flux.py:933",
         "transformer.out_channels"),
    Rule(r"FluxControl(Img2Img|Inpaint)?Pipeline", f"transformer.in_channels = 8 * {_LATENT}",
         "flux/pipeline_flux_control.py:734"),
    Rule(r"FluxFillPipeline|VisualCloze\w*",
         f"transformer.in_channels = 8 * {_LATENT} + 4 * area(vae.block_out_channels)",
         "flux/pipeline_flux_fill.py:940"),
    Rule(r"FluxControl(Img2Img|Inpaint)?Pipeline|FluxFillPipeline|VisualCloze\w*",
         f"transformer.out_channels|in_channels = 4 * {_LATENT}", "flux/pipeline_flux_control.py:826"),
    Rule(_FLUX2, f"transformer.in_channels = 4 * {_LATENT}", "flux2/pipeline_flux2.py:911"),
    Rule(_FLUX2, f"transformer.joint_attention_dim = 3 * {_WIDTH}", "flux2/pipeline_flux2.py:347"),
    Rule(_QWEN, f"transformer.joint_attention_dim = {_WIDTH}", "qwenimage/pipeline_qwenimage.py:209"),
    Rule(_QWEN, f"transformer.in_channels = 4 * {_LATENT}", "qwenimage/pipeline_qwenimage.py:584"),
    Rule(_QWEN, "transformer.in_channels = transformer.out_channels * transformer.patch_size * transformer.patch_size",
         "qwenimage/pipeline_qwenimage.py:676"),
    Rule(_Z, f"transformer.in_channels = {_LATENT}", "z_image/pipeline_z_image.py:451"),
    Rule(_Z, f"transformer.cap_feat_dim = {_WIDTH}", "z_image/pipeline_z_image.py:244"),
    Rule(_PIXART, f"transformer.in_channels = {_LATENT}", "pixart_alpha/pipeline_pixart_alpha.py:879"),
    Rule(_PIXART, f"transformer.out_channels = {_LATENT} or 2 * {_LATENT}",
         "pixart_alpha/pipeline_pixart_alpha.py:947"),
    Rule(_PIXART, "transformer.caption_channels = text_encoder.d_model", "pixart_alpha/pipeline_pixart_alpha.py:380"),
    Rule(_SANA, f"transformer.in_channels = {_LATENT}", "sana/pipeline_sana.py:885"),
    Rule(_SANA, f"transformer.out_channels = {_LATENT} or 2 * {_LATENT}", "sana/pipeline_sana.py:933",
         "transformer.out_channels"),
    Rule(_SANA, f"transformer.caption_channels = {_WIDTH}", "sana/pipeline_sana.py:275"),
    Rule(r"CogView(4|3Plus)Pipeline|Lumina2Pipeline|AuraFlowPipeline|DiTPipeline|OmniGenPipeline",
         f"transformer.in_channels = {_LATENT}", "cogview4/pipeline_cogview4.py:562"),
    Rule("CogView4ControlPipeline", f"transformer.in_channels = 2 * {_LATENT}",
         "cogview4/pipeline_cogview4_control.py:599"),
    Rule(r"CogView(4\w*|3Plus)Pipeline", f"transformer.text_embed_dim = {_WIDTH}", "cogview4/pipeline_cogview4.py:216"),
    Rule("Lumina2Pipeline", f"transformer.cap_feat_dim = {_WIDTH}", "lumina2/pipeline_lumina2.py:221"),
    Rule("AuraFlowPipeline", "transformer.joint_attention_dim = text_encoder.d_model",
         "aura_flow/pipeline_aura_flow.py:314"),
    Rule(r"HunyuanDiT\w*", "transformer.cross_attention_dim = text_encoder.hidden_size",
         "hunyuandit/pipeline_hunyuandit.py:350"),
    Rule(r"HunyuanDiT\w*", "transformer.cross_attention_dim_t5 = text_encoder_2.d_model",
         "hunyuandit/pipeline_hunyuandit.py:350"),
)  # fmt: skip

_VIDEOS = (
    Rule(_WAN, "transformer.text_dim = text_encoder.d_model", "wan/pipeline_wan.py:186"),
    Rule(_WAN, "transformer_2.text_dim = text_encoder.d_model", "wan/pipeline_wan.py:186"),
    Rule(_WAN_PLAIN, f"transformer.in_channels = {_LATENT}", "wan/pipeline_wan.py:559"),
    Rule(_WAN, f"transformer.out_channels = {_LATENT}", "wan/pipeline_wan.py:641"),
    Rule(_WAN_IMAGE, f"transformer.in_channels = 2 * {_LATENT} + vae.scale_factor_temporal",
         "wan/pipeline_wan_i2v.py:484", "not pipeline.expand_timesteps"),
    Rule("WanImageToVideoPipeline", f"transformer.in_channels = {_LATENT}", "wan/pipeline_wan_i2v.py:712",
         "pipeline.expand_timesteps"),
    Rule("LucyEditPipeline", f"transformer.in_channels = 2 * {_LATENT}", "lucy/pipeline_lucy_edit.py:663"),
    Rule(_WAN, "transformer.image_dim = image_encoder.hidden_size", "wan/pipeline_wan_i2v.py:698",
         "transformer.image_dim"),
    Rule(_WAN, "transformer_2.in_channels = transformer.in_channels", "wan/pipeline_wan.py:603"),
    Rule(_WAN, "transformer_2.out_channels = transformer.out_channels", "wan/pipeline_wan.py:641"),
    Rule(r"LTX(?!2)\w*", f"transformer.in_channels = {_LATENT}", "ltx/pipeline_ltx.py:708"),
    Rule(r"LTX(?!2)\w*", f"transformer.out_channels = {_LATENT}", "ltx/pipeline_ltx.py:796",
         "transformer.out_channels"),
    Rule(r"LTX(?!2)\w*", "transformer.caption_channels = text_encoder.d_model", "ltx/pipeline_ltx.py:269"),
    Rule(r"LTX2(?!Latent|VideoDiff)\w*", f"transformer.in_channels = {_LATENT}", "ltx2/pipeline_ltx2.py:1292"),
    Rule(rf"(?!.*(ImageToVideo))({_HUNYUAN})", f"transformer.in_channels = {_LATENT}",
         "hunyuan_video/pipeline_hunyuan_video.py:645"),
    Rule("HunyuanVideoImageToVideoPipeline", f"transformer.in_channels = {_LATENT} or 2 * {_LATENT} + 1",
         "hunyuan_video/pipeline_hunyuan_video_image2video.py:807"),
    Rule("HunyuanSkyreelsImageToVideoPipeline", f"transformer.in_channels = 2 * {_LATENT}",
         "hunyuan_video/pipeline_hunyuan_skyreels_image2video.py:694"),
    Rule(_HUNYUAN, f"transformer.out_channels = {_LATENT}", "hunyuan_video/pipeline_hunyuan_video.py:705"),
    Rule(_HUNYUAN, f"transformer.text_embed_dim = {_WIDTH}", "hunyuan_video/pipeline_hunyuan_video.py:249"),
    Rule(_HUNYUAN, "transformer.pooled_projection_dim = text_encoder_2.hidden_size",
         "hunyuan_video/pipeline_hunyuan_video.py:296"),
    Rule(r"CogVideoX(VideoToVideo)?Pipeline", f"transformer.in_channels = {_LATENT}",
         "cogvideo/pipeline_cogvideox.py:689"),
    Rule(r"CogVideoX(ImageToVideo|FunControl)Pipeline", f"transformer.in_channels = 2 * {_LATENT}",
         "cogvideo/pipeline_cogvideox_image2video.py:791"),
    Rule(_COGVIDEO, f"transformer.out_channels = {_LATENT}", "cogvideo/pipeline_cogvideox.py:689"),
    Rule(_COGVIDEO, "transformer.text_embed_dim = text_encoder.d_model", "cogvideo/pipeline_cogvideox.py:234"),
    Rule(r"MochiPipeline|AllegroPipeline|LattePipeline", f"transformer.in_channels = {_LATENT}",
         "mochi/pipeline_mochi.py:598"),
    Rule("MochiPipeline", "transformer.text_embed_dim = text_encoder.d_model", "mochi/pipeline_mochi.py:240"),
    Rule(r"AllegroPipeline|LattePipeline", "transformer.caption_channels = text_encoder.d_model",
         "latte/pipeline_latte.py:284"),
    Rule(_KANDINSKY5, f"transformer.in_visual_dim = {_LATENT}", "kandinsky5/pipeline_kandinsky.py:838"),
    Rule(_KANDINSKY5, f"transformer.in_text_dim = {_WIDTH}", "kandinsky5/pipeline_kandinsky.py:374"),
    Rule(_KANDINSKY5, "transformer.in_text_dim2 = text_encoder_2.hidden_size", "kandinsky5/pipeline_kandinsky.py:414"),
    Rule(r"Cosmos(2)?Text\w*", f"transformer.in_channels = {_LATENT}", "cosmos/pipeline_cosmos_text2world.py:551"),
    Rule(r"Cosmos(2)?VideoToWorldPipeline", f"transformer.in_channels = {_LATENT} + 1",
         "cosmos/pipeline_cosmos_video2world.py:683"),
    Rule(r"Cosmos(2)?(Text|Video)\w*", "transformer.text_embed_dim = text_encoder.d_model",
         "cosmos/pipeline_cosmos_text2world.py:228"),
)  # fmt: skip

RULES = (*_UNETS, *_IMAGES, *_VIDEOS)

SHIFTED = (rf"{_SD3}|{_FLUX}|Chroma\w*|{_Z}|Lumina2Pipeline", "flux/pipeline_flux.py:962")
"""Pipelines that subtract vae.shift_factor from what they decode, so that null fails."""
