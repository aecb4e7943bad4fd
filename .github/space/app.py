"""The page of the Space: a model's name in, hfcount's page out."""

from html import escape
from typing import Any

import gradio as gr
from runs import DEPTHS, MOST, SCHEMES, Answer, Asked, Limits, Refused, answer

LIMITS = Limits()
EXAMPLES = ["Qwen/Qwen3-32B", "Qwen/Qwen3-235B-A22B", "openai/gpt-oss-20b", "Qwen/Qwen3-0.6B\nQwen/Qwen3-8B"]

STYLE = """
.gradio-container { max-width: 1100px !important; margin: 0 auto !important; }
#page iframe { width: 100%; height: 85vh; border: 1px solid var(--border-color-primary); border-radius: 8px; }
footer { display: none !important; }
"""

INTRODUCTION = f"""
# hfcount
Is a checkpoint what its config says? Name up to {MOST} models of the Hub, one a line. No weights are downloaded.
"""


def look(request: gr.Request, *values: Any) -> tuple[str, str, str]:
    """The verdict, the page in a frame of its own, and the JSON; of what is refused, the reason."""
    try:
        asked = Asked(*(value or "" for value in values))  # Gradio gives None for what is empty
        LIMITS.take(_visitor(request), len(asked.names()))
        found = answer(asked)
    except Refused as reason:
        found = Answer(str(reason), "", "")
    return found.verdict, _framed(found.page), found.report


def _visitor(request: gr.Request) -> str:
    """Who asks: behind the proxy of Spaces, the last address that it adds."""
    forwarded = request.headers.get("x-forwarded-for", "") if request else ""
    client = request.client.host if request and request.client else "unknown"
    return forwarded.rpartition(",")[2].strip() or client


def _framed(page: str) -> str:
    """The page where its script reaches nothing of this one."""
    return f'<iframe title="Report" sandbox="allow-scripts" srcdoc="{escape(page)}"></iframe>' if page else ""


def built() -> gr.Blocks:
    """The page, before it is served."""
    with gr.Blocks(title="hfcount", fill_width=True, analytics_enabled=False) as page:
        gr.Markdown(INTRODUCTION)
        models = gr.Textbox(label="Models", placeholder="org/name", lines=2, max_lines=MOST, elem_id="models")
        with gr.Accordion("What if, and serving", open=False):
            with gr.Row():
                settings = gr.Textbox(label="What if: KEY=VALUE, one a line", placeholder="vocab_size=32000", lines=2)
                schemes = gr.Dropdown(list(SCHEMES), label="Quantised as", multiselect=True)
            with gr.Row():
                context = gr.Textbox(label="Context in tokens", placeholder="32k")
                memory = gr.Textbox(label="Memory of a GPU", placeholder="80GiB or H100")
                depth = gr.Dropdown(list(DEPTHS), value="auto", label="How far to look")
        button = gr.Button("Verify", variant="primary", elem_id="verify")
        verdict = gr.Textbox(label="Verdict", interactive=False, lines=1, max_lines=2 * MOST, elem_id="verdict")
        shown = gr.HTML(elem_id="page", padding=False)
        with gr.Accordion("JSON", open=False):
            report = gr.Code(language="json", show_label=False)
        gr.Examples(EXAMPLES, inputs=models)
        asked = [models, depth, settings, schemes, context, memory]
        for event in (button.click, models.submit):
            event(look, asked, [verdict, shown, report], concurrency_limit=2)
    return page


if __name__ == "__main__":
    built().queue(max_size=20).launch(css=STYLE, show_error=False)
