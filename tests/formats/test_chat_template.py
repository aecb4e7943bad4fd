"""Chat templates: whether they parse, as jinja2 says, and what follows a message."""

import re

import pytest

from hfcount.formats.chat_template import EOS, TemplateError, text_after_messages

AFTER: dict[str, tuple[str, list[str]]] = {
    "a sum": ("{% for m in messages %}{{ '<s>' + m['content'] + '</s>\\n' }}{% endfor %}", ["</s>\n"]),
    "text": ("{% for m in messages %}{{m.content}}</s>{% endfor %}", ["</s>"]),
    "the variable": ("{{ m.content | trim + eos_token }}", [EOS]),
    "a method": ("{{ m.content.split('<x>')[-1].lstrip('\\n') + '</s>' }}", ["</s>"]),
    "set before": ("{% set content = '<h>' + m['content'] | trim + '</s>' %}{{ content }}", ["</s>"]),
    "parts of a message": ("{% for c in m.content %}{{ c.text }}{% endfor %}</s>", []),
    "an else that is passed over": ("{% if a %}{{ m.content }}{% else %}{{ b }}{% endif %}</s>", ["</s>"]),
    "a condition that follows": ("{{ m.content }}{% if a %}</s>{% endif %}", []),
    "other values": ("{{ role + '</s>' }}", []),
    "reasoning": ("{{ m.reasoning_content + '</s>' }}", []),
    "a remark": ("{# {{ m.content }} #}</s>", []),
    "raw": ("{% raw %}{{ m.content }}{% endraw %}</s>", []),
    "objects": ("{{ {'a': {'b': 1}}['a'] }}{{ m.content }}</s>", ["</s>"]),
}


@pytest.mark.parametrize(("template", "texts"), AFTER.values(), ids=AFTER)
def test_what_follows_a_message(template: str, texts: list[str]) -> None:
    assert list(text_after_messages(template)) == texts


SOUND = [text for text, _ in AFTER.values()] + [
    "",
    "}} %} #}",
    "{%- macro f(a, b={}) -%}x{%- endmacro -%}{{ f('%}') }}",
    "{% set x %}a{% endset %}{% set ns.x = 1 %}",
    "{% for a in b recursive %}{% break %}{% else %}x{% endfor %}",
    "{% generation %}x{% endgeneration %}",
    "{{ '{\"name\": \"' + x + '\"}' }}",
    "{{ 5 % 3 - -2 }}",
]
BROKEN = {
    "{% for m in messages %}{{ m": "what begins with {{ is not closed",
    "{{ 'a }}": "what begins with {{ is not closed",
    "{{ a ) }}": "what begins with {{ is not closed",
    "{% if x %}a": "{% if %} is not closed",
    "{% if x": "what begins with {% is not closed",
    "{% endfor %}": "{% endfor %} closes nothing that is open there",
    "{% for a in b %}{% endif %}": "{% endif %} closes nothing that is open there",
    "{% else %}": "{% else %} stands in no condition",
    "{% foo %}": "{% foo %} is no tag",
    "{# a": "a remark, {#, is not closed",
    "{% raw %}{{": "{% raw %} is not closed",
    "{{ a %}": "what begins with {{ is not closed",
}


@pytest.mark.parametrize("template", SOUND)
def test_what_parses(template: str) -> None:
    list(text_after_messages(template))


@pytest.mark.parametrize(("template", "problem"), BROKEN.items())
def test_what_does_not_parse(template: str, problem: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(problem)):
        list(text_after_messages(template))


@pytest.mark.parametrize("template", [*SOUND, *BROKEN])
def test_jinja_says_the_same(template: str) -> None:
    jinja2 = pytest.importorskip("jinja2")
    extension = pytest.importorskip("jinja2.ext").Extension

    class Generation(extension):  # type: ignore[misc, valid-type]  # jinja2 may not be installed
        tags = frozenset({"generation"})

        def parse(self, parser):  # type: ignore[no-untyped-def]  # as jinja2 declares it
            line = next(parser.stream).lineno
            return jinja2.nodes.Scope(parser.parse_statements(["name:endgeneration"], drop_needle=True), lineno=line)

    environment = jinja2.Environment(extensions=["jinja2.ext.loopcontrols", Generation])
    if template in BROKEN:
        with pytest.raises(jinja2.TemplateSyntaxError):
            environment.parse(template)
    else:
        environment.parse(template)
