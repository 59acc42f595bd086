"""What every command takes, and how its errors end."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from pullstate.server.failures import described
from pullstate.settings import Settings, SettingsError, load_settings

DONE, FAILED, MISUSED = 0, 1, 2


class Failed(click.ClickException):
    """The command did not do what was asked: exit status 1."""

    exit_code = FAILED


class Misused(click.ClickException):
    """The command was used wrongly: exit status 2."""

    exit_code = MISUSED


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --config and --store; the command gets `settings` in their place."""

    @click.option("--config", metavar="FILE", help="The configuration file.")
    @click.option("--store", metavar="URL", help="The store: a path or a SQLAlchemy URL.")
    @wraps(command)
    def with_settings(*, config: str | None, store: str | None, **rest: Any) -> Any:
        return command(settings=settings_of(config, store), **rest)

    return with_settings


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --json as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def settings_of(config: str | None, store: str | None) -> Settings:
    """The settings of this process, with logging set up as they say. Misused with the words."""
    try:
        settings = load_settings(os.environ, config=config, store=store)
    except SettingsError as error:
        raise Misused(str(error)) from None
    log_to_stderr(settings.log_level)
    return settings


class Discreet(logging.Formatter):
    """Of an exception only kind and place: its text may quote a title, or what a client sent."""

    def formatException(self, ei: Any) -> str:
        return described(ei[1])


def log_to_stderr(level: str) -> None:
    """Log what this project says at `level`, and of its libraries what is a warning at least.

    What the libraries say beside that may quote what a forge or a client sent.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Discreet("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("pullstate").setLevel(level)


def speak_any_language() -> None:
    """Let no title in a script that the locale lacks end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def print_json(text: str) -> None:
    """JSON on standard output, in UTF-8 whatever the locale."""
    click.get_binary_stream("stdout").write(f"{text}\n".encode())
