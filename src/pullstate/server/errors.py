"""What can go wrong between a call and its tool.

ToolError            the caller can act on it; its text is the whole story
└── ArgumentError    the arguments do not fit the tool
UnknownTool          no tool has that name
"""

from __future__ import annotations


class ToolError(Exception):
    """An error that the caller can act on: which argument, why, what to send instead.

    Its text reaches the model as it stands, so it never holds a forge's text, a path or a token.
    """


class ArgumentError(ToolError):
    """The arguments do not fit the tool: one sentence for each that does not."""


class UnknownTool(Exception):
    """No tool has that name. The text names those there are."""
