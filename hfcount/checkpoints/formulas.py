"""A formula as a report shows it: in symbols, in numbers, and the value of each part."""

from collections.abc import Iterable

from hfcount.blueprints.formula.closed_form import Formula, LayerTerms
from hfcount.report.figures import ClosedForm, ComponentCount, FormulaPart, LayerKind
from hfcount.spec.tree.polynomials import Polynomial, evaluate
from hfcount.text import printable


def closed_form(formula: Formula) -> ClosedForm:
    """The formula of every component, of the total and of one layer of each kind."""

    def parts(polynomials: Iterable[tuple[str, Polynomial]], whole: bool = True) -> tuple[FormulaPart, ...]:
        text = formula.text if whole else formula.plain
        return tuple(
            FormulaPart(
                component=name, symbols=text(terms), numbers=formula.numbers(terms, whole), value=evaluate(terms)
            )
            for name, terms in polynomials
        )

    fewer = {
        component: terms
        for component, terms in formula.active_components.items()
        if terms != formula.components[component]
    }
    return ClosedForm(
        parts=parts([*formula.components.items(), ("total", formula.total)]),
        legend=formula.legend,
        active=parts([*fewer.items(), ("total", formula.active)]) if fewer else (),
        layers=parts([(f"{kind.name}, {kind.where}", kind.terms) for kind in formula.kinds], whole=False),
        active_layers=parts(
            [
                (f"{kind.name}, {kind.where}", kind.active_terms)
                for kind in formula.kinds
                if kind.active_terms != kind.terms
            ],
            whole=False,
        ),
        keys={name: printable(key) for name, key in formula.keys.items()},
    )


def layer_kinds(formula: Formula) -> tuple[LayerKind, ...]:
    """The layers of each kind, with sums over all of them."""
    return tuple(map(_layers, formula.kinds))


def _layers(kind: LayerTerms) -> LayerKind:
    components = tuple(
        ComponentCount(
            name=name,
            total=kind.layers * evaluate(terms),
            active=kind.layers * evaluate(kind.active.get(name, {})),
        )
        for name, terms in kind.parts.items()
    )
    return LayerKind(name=kind.name, numbers=kind.numbers, count=kind.layers, components=components)
