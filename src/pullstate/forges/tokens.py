"""Where a host's token comes from.

In this order, and a source that the forge refuses gives way to the next:

1. what the configuration file names (`[[forge.token]]` of the owner asked about first), and files
   that `GH_TOKEN_FILE` and its like name;
2. the usual variables of the environment that belong to this host (`token_owners`);
3. the login that `gh` or `glab` keeps for this host.

Nothing is read before the first question, and everything may be asked from any thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.cli_logins import GlabLogin, gh_login
from pullstate.forges.token_owners import (
    Unassigned,
    UnassignedToken,
    unassigned_tokens,
    variables_of,
)
from pullstate.forges.token_sources import Command, Source, Surroundings, TokenFile, Variable
from pullstate.forges.token_values import Reading, Scheme, Secret, Token, fingerprint

__all__ = [
    "Candidate",
    "ConfiguredSource",
    "Scheme",
    "Secret",
    "Source",
    "Surroundings",
    "Token",
    "TokenSources",
    "Unassigned",
    "UnassignedToken",
    "fingerprint",
    "token_sources",
    "unassigned",
]


@dataclass(frozen=True, slots=True)
class ConfiguredSource:
    """A source that the configuration file names: exactly one of `env`, `file`, `command` is set.

    `file` is an absolute path, `command` an argument list. With `owner` it serves the repositories
    of that owner alone.
    """

    env: str = ""
    file: str = ""
    command: tuple[str, ...] = field(default=(), repr=False)
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source in its place in the order, for every owner or for one."""

    source: Source
    owner: str | None = None

    @property
    def name(self) -> str:
        return f"{self.source.name} for {self.owner}" if self.owner else self.source.name


Configured = Mapping[Site, Sequence[ConfiguredSource]]


def token_sources(configured: Configured, surroundings: Surroundings) -> dict[Site, TokenSources]:
    """The sources of every site. `configured` has all sites, with what the file says of each."""
    return {
        site: TokenSources(site, tuple(_candidates(site, configured, surroundings)))
        for site in configured
    }


def unassigned(configured: Configured, environ: Mapping[str, str]) -> tuple[UnassignedToken, ...]:
    """The variables that hold a token and go to no host, or not to all that could want it."""
    return unassigned_tokens(tuple(configured), environ, _claimed(configured))


class TokenSources:
    """The sources of one site, best first, and which of their values the forge has refused."""

    def __init__(self, site: Site, candidates: Sequence[Candidate]) -> None:
        self.site = site
        self._candidates = tuple(candidates)
        self._reading = Lock()  # held while a source is read, which may take seconds
        self._lock = Lock()  # held for what is known of them, never for long
        self._refused: dict[str, Secret] = {}
        self._problems: dict[str, str] = {}

    def candidates(self) -> tuple[Candidate, ...]:
        """Every source, in the order in which they are asked."""
        return self._candidates

    def owners(self) -> tuple[str, ...]:
        """The owners that have a token of their own."""
        return tuple(dict.fromkeys(each.owner for each in self._candidates if each.owner))

    def current(self, owner: str | None = None) -> Token | None:
        """The best token that is not known to be refused, for an owner's repositories or for all.

        May run `gh` or another command for up to three seconds each: ask from a worker thread. A
        refused value that its source has replaced counts again with this call.
        """
        with self._reading:
            return next(self._usable(owner), None)

    def reject(self, token: Token) -> None:
        """The forge answered 401: set this value aside until its source has another one.

        Like everything but `current` it never waits for a source.
        """
        with self._lock:
            self._refused[token.source] = token.secret
            for candidate in self._candidates:
                if candidate.name == token.source:
                    candidate.source.doubt(token.secret)

    def reconsider(self) -> None:
        """Ask with refused values once more: what refused them may have been the forge's fault."""
        with self._lock:
            self._refused.clear()

    def looked_in(self) -> tuple[str, ...]:
        """The names of all sources, without a value, a path or an argument in them."""
        return tuple(candidate.name for candidate in self._candidates)

    @property
    def rejected(self) -> tuple[str, ...]:
        """The names of the sources whose last seen value the forge has refused."""
        with self._lock:
            return tuple(self._refused)

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """(source, what is wrong with what it gave when last read), each without the value."""
        with self._lock:
            return tuple(self._problems.items())

    def _usable(self, owner: str | None) -> Iterator[Token]:
        for candidate in self._for_owner(owner):
            reading = candidate.source.read()
            if self._serves(candidate, reading):
                scheme = _scheme(self.site.kind, candidate.source.name, reading)
                yield Token(reading.secret, candidate.name, scheme, candidate.owner)

    def _serves(self, candidate: Candidate, reading: Reading) -> bool:
        with self._lock:
            self._note_problem(candidate, reading)
            if reading.secret is None:
                return False
            if reading.secret in self._refused.values():
                self._refused[candidate.name] = reading.secret
                return False
            self._refused.pop(candidate.name, None)
            return True

    def _note_problem(self, candidate: Candidate, reading: Reading) -> None:
        if reading.problem:
            self._problems[candidate.name] = reading.problem
        else:
            self._problems.pop(candidate.name, None)

    def _for_owner(self, owner: str | None) -> Iterator[Candidate]:
        owned = [each for each in self._candidates if owner and _covers(each.owner, owner)]
        yield from sorted(owned, key=lambda each: -len(each.owner or ""))
        yield from (each for each in self._candidates if each.owner is None)


def _covers(owner: str | None, asked: str) -> bool:
    """A group's token reads its subgroups too."""
    return owner is not None and f"{asked}/".casefold().startswith(f"{owner}/".casefold())


def _scheme(kind: ForgeKind, source: str, reading: Reading) -> Scheme:
    """GitHub takes every token as a bearer's; GitLab has a header for each kind."""
    if kind is not ForgeKind.GITLAB or reading.bearer:
        return Scheme.BEARER
    is_job = "CI_JOB_TOKEN" in source or reading.secret.reveal().startswith("glcbt-")
    return Scheme.JOB_TOKEN if is_job else Scheme.PRIVATE_TOKEN


def _candidates(
    site: Site, configured: Configured, surroundings: Surroundings
) -> Iterator[Candidate]:
    if site.kind is ForgeKind.DEMO:
        return
    for source in configured[site]:
        yield from (Candidate(found, source.owner) for found in _configured(source, surroundings))
    usual = variables_of(site, tuple(configured), surroundings.environ, _claimed(configured))
    yield from (Candidate(found) for name in usual for found in _file_of(name, surroundings))
    yield from (Candidate(Variable(name, surroundings)) for name in usual)
    yield Candidate(_login(site, tuple(configured), surroundings))


def _configured(source: ConfiguredSource, surroundings: Surroundings) -> Iterator[Source]:
    prefix = "" if source.owner else "token_"
    if source.env:
        yield Variable(source.env, surroundings)
        yield from _file_of(source.env, surroundings)
    if source.file:
        yield TokenFile(f"{prefix}file", Path(source.file), surroundings)
    if source.command:
        yield Command(f"command ({prefix}command)", source.command, surroundings)


def _file_of(variable: str, surroundings: Surroundings) -> Iterator[TokenFile]:
    name = f"{variable}_FILE"
    text = surroundings.environ.get(name, "").strip()
    if text:
        yield TokenFile(name, _expanded(text, surroundings.home), surroundings)


def _expanded(text: str, home: Path | None) -> Path:
    return home / text[2:] if home and text.startswith("~/") else Path(text)


def _login(site: Site, sites: Collection[Site], surroundings: Surroundings) -> Source:
    if site.kind is ForgeKind.GITHUB:
        return gh_login(site, surroundings)
    is_alone = sum(other.host == site.host for other in sites) == 1
    return GlabLogin((site.name, site.host) if is_alone else (site.name,), surroundings)


def _claimed(configured: Configured) -> frozenset[str]:
    return frozenset(s.env for sources in configured.values() for s in sources if s.env)
