"""GitLab: GitLab.com and self-managed installs."""

from pullstate.forges.gitlab.api import connected
from pullstate.forges.gitlab.client import GitLab

__all__ = ["GitLab", "connected"]
