"""What can go wrong between us and a forge.

ForgeError
├── Unauthorized            the credential is refused (401)
├── Forbidden               the credential may not see this (403 that is no rate limit)
│   └── NeedsToken          the forge tells this to a credential only, and there is none
├── NotVisible              not found, or hidden from this credential (404)
├── RateLimited             asked too much: nothing before `until`
├── PullRequestsDisabled    the repository has none by its own choice
├── Unreachable             no answer: DNS, TCP, TLS, timeouts
│   └── Overloaded          an answer that a smaller page may mend: 502, 503, 504, HTML, cut JSON,
│       │                   RESOURCE_LIMITS_EXCEEDED
│       └── NotTheApi       a web page where the API should be: another address, or a proxy
└── Unexpected              an answer that we cannot read
"""

from __future__ import annotations

from datetime import datetime


class ForgeError(Exception):
    """A forge did not answer the question. The text is ours, never the forge's."""


class Unauthorized(ForgeError):
    """The credential is refused (401)."""


class Forbidden(ForgeError):
    """The credential may not see this: a 403 that is no rate limit."""


class NeedsToken(Forbidden):
    """The forge tells this to a credential only, and there is none."""


class NotVisible(ForgeError):
    """Not found, or hidden from this credential: forges answer both alike."""


class RateLimited(ForgeError):
    """Asked too much: nothing may be asked of `resource` before `until`."""

    def __init__(self, until: datetime, resource: str, *, secondary: bool = False) -> None:
        super().__init__(f"rate limit of {resource} until {until.isoformat()}")
        self.until = until
        self.resource = resource  # "core", "graphql"; "*" stands for the whole host
        self.secondary = secondary

    @property
    def of_everything(self) -> bool:
        """Whether nothing at all may be asked; else other resources answer still."""
        return self.secondary or self.resource == "*"


class PullRequestsDisabled(ForgeError):
    """The repository has pull requests (merge requests) turned off."""


class Unreachable(ForgeError):
    """No answer: DNS, TCP, TLS, timeouts."""


class Overloaded(Unreachable):
    """An answer that a smaller page may mend: 502, 503, 504, HTML, cut JSON, resource limits."""


class NotTheApi(Overloaded):
    """A web page where the API should be: another address, a sign-in page, or a proxy."""


class Unexpected(ForgeError):
    """An answer that we cannot read."""
