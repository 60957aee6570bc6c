"""``ossb bound``: C(θ) and the rates of an instance."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ossb.cli.tables import Row
    from ossb.graves_lai.bound import Bound

SHOWN = 40


def bound(
    instance: Annotated[
        str, typer.Argument(help="Instance file, TOML or JSON; - reads standard input.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    gap: Annotated[float, typer.Option(help="Relative gap to certify.")] = 1e-6,
    cost: Annotated[
        str,
        typer.Option(
            metavar="COST",
            help="What a play costs: regret, samples, a number (regret + so much per sample), "
            "or a price for each arm, p1,p2,…",
        ),
    ] = "regret",
    top: Annotated[
        int | None, typer.Option(metavar="M", help="Ask for the M best arms; costs of all plays.")
    ] = None,
    above: Annotated[
        float | None,
        typer.Option(metavar="LEVEL", help="Ask for the arms whose means exceed LEVEL."),
    ] = None,
    context: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of this context or segment by itself."),
    ] = None,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the proof of both sides to a file.")
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the rates (.png, .pdf or .svg by the name)."),
    ] = None,
) -> None:
    """Compute the Graves–Lai bound C(θ) with its rates and proof.

    With --cost samples: the characteristic time T*(θ) of a test for the best arm; with --top M or
    --above LEVEL of one for the M best arms, or those above a level.

    Example: ossb bound instance.toml --certificate proof.json
    """
    from ossb import certificates
    from ossb.figures.canvas import check_format
    from ossb.graves_lai.answers import answer_of
    from ossb.instances import load
    from ossb.structures import bound as solve
    from ossb.structures import bounds as solve_all

    if plot is not None:
        check_format(plot)
    instances: Any
    instances, is_list = load(instance)
    if context is not None:
        instances = [_alone(one, context) for one in instances]
    counted, answer = _cost(cost), answer_of(top, above)
    if is_list:
        bounds = solve_all(instances, gap, counted, answer)
    else:
        bounds = [solve(instances[0], gap, counted, answer)]
    if certificate is not None:
        certificates.write(bounds, certificate)
    if plot is not None:
        from ossb.figures import draw_rates

        draw_rates(bounds, plot)
    if json:
        import json as encoder

        import msgspec

        content = [_content(answer) for answer in bounds]
        text = encoder.dumps(content if is_list else content[0], allow_nan=False)
        typer.echo(msgspec.json.format(text, indent=2))  # which indents long lists soon
    else:
        _print(bounds)
    for file in (certificate, plot):
        if file is not None:
            typer.echo(f"wrote {file}", err=json)


def _alone(instance: Any, context: str) -> Any:
    """One of the contexts of an instance."""
    from ossb.errors import InputError

    if not instance.has_contexts:
        raise InputError("context", "be left out: the instance has none", context)
    return instance.alone(context)


def _cost(text: str) -> Any:
    """The cost that an option's text says: a word, a number, or a price for each arm."""
    from ossb.errors import InputError
    from ossb.graves_lai.cost import MUST

    if text in ("regret", "samples"):
        return text
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError("cost", MUST, text) from None
    return numbers if len(numbers) > 1 else numbers[0]


def _content(answer: "Bound") -> dict[str, Any]:
    """A bound as JSON, with the σ it is about: one that was left out is 1."""
    noise = answer.instance.noise
    return answer.to_dict() if noise is None else {**answer.to_dict(), "sigma": noise}


def _print(bounds: list["Bound"]) -> None:
    """A table for each bound, between two lines that are not wrapped to its width."""
    from rich.console import Console

    from ossb.cli.tables import Paper

    paper = Paper(Console())
    for answer in bounds:
        paper.print_line(_title(answer))
        paper.print_table(*_table(answer))
        paper.print_line(_verdict(answer))


def _title(answer: "Bound") -> str:
    instance = answer.instance
    name = f"{instance.name}: " if instance.name else ""
    noise = "" if instance.noise is None else f" with σ = {instance.noise:g}"
    return f"{name}{instance.kind}, {instance.observation}{noise}"


def _verdict(answer: "Bound") -> str:
    return (
        f"{answer.cost.symbol} = {answer.value:.8g}, {answer.status} in [{answer.lower:.10g}, "
        f"{answer.upper:.10g}]; {answer.right}; "
        f"{answer.seconds:.3g} s{_greedy(answer)}"
    )


def _greedy(answer: "Bound") -> str:
    """What best arms of several contexts show to one another, where that is all there is."""
    if not (answer.has_contexts and answer.greedy_suffices):
        return ""
    return "\ngreedy suffices: the best arms of the contexts show all that any arm shows"


def _table(answer: "Bound") -> tuple["Row", list["Row"]]:
    """Headings and rows: the arms that need exploring, most plays first."""
    instance = answer.instance
    rows: list[Row] = []
    regret = answer.cost.is_regret
    names = ("rate c(x, θ)", "cost c Δ", "share") if regret else ("rate η(x)", "weight", "share")
    ordered = sorted(answer.support, key=lambda item: -item[1])
    total = sum(rate for _, rate in ordered) or 1.0
    for arm, rate in ordered[:SHOWN]:
        gap = answer.gap_of(arm)
        spent = rate * answer.price_at(arm, gap)
        share = f"{spent / answer.value:.1%}" if answer.value > 0 else ""
        third = f"{spent if regret else rate / total:.6g}"
        rows.append((instance.arm_name(arm), f"{gap:.6g}", f"{rate:.6g}", third, share))
    if len(ordered) > SHOWN:
        rows.append((f"… {len(ordered) - SHOWN} more", "", "", "", ""))
    if not ordered:
        rows.append(("nothing needs exploring", "", "0", "0", ""))
    return ("arm", "gap Δ", *names), rows
