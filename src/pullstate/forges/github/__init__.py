"""GitHub: github.com, ghe.com tenants and GitHub Enterprise Server."""

from pullstate.forges.github.api import connected
from pullstate.forges.github.client import GitHub

__all__ = ["GitHub", "connected"]
