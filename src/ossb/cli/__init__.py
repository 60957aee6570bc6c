"""The command line.

Commands import what they need when they run: ``--help`` loads nothing heavy.
"""

import atexit
import gc
import sys
import warnings
from typing import Any

import typer

from ossb.cli import campaign, store, suite, token
from ossb.cli.bound import bound
from ossb.cli.doctor import doctor
from ossb.cli.experiments import experiments
from ossb.cli.help_text import help_of, missing
from ossb.cli.plan import plan
from ossb.cli.policies import policies
from ossb.cli.report import report
from ossb.cli.run import run
from ossb.cli.serve import serve
from ossb.cli.shells import completes
from ossb.cli.simulate import simulate
from ossb.cli.structures import structures
from ossb.cli.verify import verify
from ossb.errors import CertificationError, InputError, InUse, OssbError

BAD_INPUT, NOT_CERTIFIED, IN_USE, INTERRUPTED = 2, 3, 4, 130

# errors about the store as such, by name: importing the campaigns would be heavy
OF_STORAGE = {
    "Unreachable": "be in reach",
    "Unavailable": "be in reach and take writes",
    "Corrupt": "be what was written to it",
}

# typer may carry its own click: its errors are found through the one it exports
USAGE_ERROR: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app = typer.Typer(
    name="ossb",
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    bound,
    verify,
    plan,
    simulate,
    run,
    report,
    experiments,
    structures,
    policies,
    doctor,
    serve,
)
for command in COMMANDS:
    app.command()(command)
GROUPS = (
    (campaign.app, "campaign", "create prices instance.toml"),
    (token.app, "token", "create --scope read"),
    (store.app, "storage", "backup monday.db"),
    (suite.app, "suite", "run mine:Policy"),
)
for group, name, example in GROUPS:
    said = f"{group.info.help}\n\nExample: ossb {name} {example}"
    app.add_typer(group, name=name, help=said)


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"ossb {version('ossb')}")
        raise typer.Exit


@app.callback()
def options(
    _show: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Minimal exploration for structured bandits: certified bounds and what stands on them.

    Example: ossb run figure1
    """


def main() -> None:
    """Run the command line; every error ends in one line and an exit code."""
    text = help_of(app, sys.argv[1:])
    if text is not None:
        typer.echo(text)
        sys.exit(0)
    atexit.register(gc.freeze)  # a process that ends need not look through all it has for garbage
    usual, warnings.formatwarning = warnings.formatwarning, _warned
    try:
        if completes(sys.argv[1:]):
            sys.exit(0)
        code = app(prog_name="ossb", standalone_mode=False)
    except InputError as error:
        _fail(str(error), BAD_INPUT)
    except CertificationError as error:
        _fail(str(error), NOT_CERTIFIED)
    except InUse as error:
        _fail(str(error), IN_USE)
    except OssbError as error:
        must = OF_STORAGE.get(type(error).__name__)
        _fail(f"`storage` must {must}: {error}" if must else str(error), BAD_INPUT)
    except USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help, of many lines
            typer.echo(error.format_message(), err=True)
            sys.exit(BAD_INPUT)
        _fail(missing(error) or error.format_message(), BAD_INPUT)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)
    finally:
        warnings.formatwarning = usual
    if code == INTERRUPTED:  # typer has caught the interrupt and says nothing
        _fail("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """A warning as one line, without the place in our code that it comes from."""
    return "ossb: " + " ".join(str(message).split()) + "\n"


def _fail(message: str, code: int) -> None:
    print("ossb: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(code)
