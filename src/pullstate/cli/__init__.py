"""The commands. The one place that reads Settings."""

from pullstate.cli.commands import pullstate

__all__ = ["pullstate"]
