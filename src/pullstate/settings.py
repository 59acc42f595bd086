"""Settings: the flag, else the environment, else the configuration file, else the default.

| flag       | environment               | file                 | default                        |
|------------|---------------------------|----------------------|--------------------------------|
| `--config` | `PULLSTATE_CONFIG`        |                      | `pullstate/config.toml` in the |
|            |                           |                      | user's configuration folder    |
| `--store`  | `PULLSTATE_STORE`         |                      | the store's own place          |
|            | `PULLSTATE_SYNC_INTERVAL` | `sync.interval`      | 60 seconds                     |
|            | `PULLSTATE_LOG`           |                      | WARNING                        |
|            |                           | `sync.quota_share`   | 0.5                            |
|            |                           | `track.repositories` | none                           |
|            |                           | `[[forge]]`          | github.com and gitlab.com      |
|            |                           | `diffs.exclude`      | none                           |

An empty variable counts as unset. Errors are the SettingsErrors of `configuration_file`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote

from pullstate.configuration import LONGEST_INTERVAL, SHORTEST_INTERVAL, Configuration
from pullstate.configuration_file import (
    ConfigurationMissing,
    InvalidValue,
    SettingsError,
    invalid,
    name_of,
    read_configuration,
)
from pullstate.configured_forges import ForgeSettings, configured_forges
from pullstate.domain.address import (
    GITHUB_COM,
    GITLAB_COM,
    AddressError,
    ForgeKind,
    RepositoryAddress,
    Site,
    parse_repository,
)
from pullstate.domain.diff_exclusion import DiffExclusionPolicy
from pullstate.forges.tokens import ConfiguredSource
from pullstate.places import Places

__all__ = ["ForgeSettings", "Places", "Settings", "SettingsError", "load_settings"]

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person set, checked, and the defaults for what they did not.

    `store` is an absolute path or a SQLAlchemy URL, which may hold a password; None where none was
    named. `interval` is in seconds. `file` is read where `has_file`, and else where one would go.
    """

    file: Path
    has_file: bool
    store: str | None = field(repr=False)
    interval: float
    quota_share: float
    log_level: str
    forges: tuple[ForgeSettings, ...]
    repositories: tuple[RepositoryAddress, ...]
    exclusion: DiffExclusionPolicy

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every forge that addresses may name."""
        return tuple(forge.site for forge in self.forges)

    @property
    def tokens(self) -> dict[Site, tuple[ConfiguredSource, ...]]:
        """What the file says of each site's tokens: every site has an entry."""
        return {forge.site: forge.tokens for forge in self.forges}

    @property
    def default_site(self) -> Site:
        """Where an owner and a name without a host lie: the only forge named in the file, else
        github.com."""
        named = [forge.site for forge in self.forges if forge.named]
        return named[0] if len(named) == 1 else self._at(GITHUB_COM)

    @property
    def default_gitlab(self) -> Site:
        """Where a project without a host lies: the only GitLab named in the file, else
        gitlab.com."""
        named = [forge.site for forge in self.forges if forge.named]
        gitlabs = [site for site in named if site.kind is ForgeKind.GITLAB]
        return gitlabs[0] if len(gitlabs) == 1 else self._at(GITLAB_COM)

    def _at(self, known: Site) -> Site:
        """A known site with the aliases that the file gives it; the demo has none but its own."""
        return next((site for site in self.sites if site.url == known.url), self.sites[0])


def load_settings(
    environ: Mapping[str, str],
    *,
    config: str | None = None,
    store: str | None = None,
    places: Places | None = None,
) -> Settings:
    """The settings of this process; `config` and `store` are its flags. Raises a SettingsError."""
    places = places or Places.of_user()
    set_ = {name: value.strip() for name, value in environ.items() if value.strip()}
    file, configuration = _read(config or set_.get("PULLSTATE_CONFIG"), places)
    present = configuration or Configuration()
    resolve = partial(places.path, base=file.parent)
    forges = configured_forges(present.forge, file, resolve)
    return Settings(
        file=file,
        has_file=configuration is not None,
        store=_store(store, set_, places),
        interval=_interval(set_) or present.sync.interval or 60.0,
        quota_share=present.sync.quota_share or 0.5,
        log_level=_log_level(set_),
        forges=forges,
        repositories=_repositories(present, [forge.site for forge in forges], file),
        exclusion=_exclusion(present.diffs.exclude, file),
    )


def _read(named: str | None, places: Places) -> tuple[Path, Configuration | None]:
    file = places.path(named or "config.toml", places.current if named else places.configuration)
    try:
        return file, read_configuration(file)
    except ConfigurationMissing:
        if named:
            raise
        return file, None


def _store(flag: str | None, environ: Mapping[str, str], places: Places) -> str | None:
    named = flag or environ.get("PULLSTATE_STORE")
    if not named:
        return None
    absolute = partial(places.path, base=places.current)
    scheme, slashes, rest = named.partition("://")
    if not slashes:
        return str(absolute(named))
    return _sqlite_url(scheme, rest, absolute) if scheme.startswith("sqlite") else named


def _sqlite_url(scheme: str, rest: str, absolute: Callable[[str], Path]) -> str:
    if rest and not rest.startswith("/"):
        raise InvalidValue(
            "The store's URL has two slashes after sqlite:, which name a server: write "
            "sqlite:///PATH, or the path alone.",
            key="PULLSTATE_STORE",
        )
    database, mark, query = rest[1:].partition("?")
    if not database or database.startswith((":", "file:")):
        return f"{scheme}://{rest}"
    return f"{scheme}:///{quote(str(absolute(unquote(database))), safe='/:~')}{mark}{query}"


def _interval(environ: Mapping[str, str]) -> float | None:
    text = environ.get("PULLSTATE_SYNC_INTERVAL")
    if text is None:
        return None
    seconds = float(text) if NUMBER.fullmatch(text) else 0.0
    if not SHORTEST_INTERVAL <= seconds <= LONGEST_INTERVAL:
        raise InvalidValue(
            f"PULLSTATE_SYNC_INTERVAL in the environment is {_kind(text)}: write a number of "
            f"seconds from {SHORTEST_INTERVAL:g} to {LONGEST_INTERVAL:g}, such as 60.",
            key="PULLSTATE_SYNC_INTERVAL",
        )
    return seconds


def _kind(text: str) -> str:
    is_number = re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", text, re.IGNORECASE)
    return "a number out of bounds" if is_number else "text that is no number"


def _log_level(environ: Mapping[str, str]) -> str:
    level = environ.get("PULLSTATE_LOG", "WARNING").upper()
    if level not in LOG_LEVELS:
        raise InvalidValue(
            "PULLSTATE_LOG in the environment is text that is no level: write one of "
            f"{', '.join(map(str.lower, LOG_LEVELS))}.",
            key="PULLSTATE_LOG",
        )
    return level


def _repositories(
    configuration: Configuration, sites: Sequence[Site], file: Path
) -> tuple[RepositoryAddress, ...]:
    found: dict[tuple[Site, str], RepositoryAddress] = {}
    for index, text in enumerate(configuration.track.repositories):
        location = ("track", "repositories", index)
        try:
            address = parse_repository(text, sites)
        except AddressError as error:
            words = f"cannot be used: {error.sentence.removesuffix('.')}"
            raise invalid(name_of(location), words, file, location) from None
        found.setdefault((address.site, address.key), address)
    return tuple(found.values())


def _exclusion(patterns: Sequence[str], file: Path) -> DiffExclusionPolicy:
    """The policy with the project's patterns, as git reads a .gitignore at the top level."""
    if not patterns:
        return DiffExclusionPolicy()
    from pathspec import GitIgnoreSpec  # only where there are patterns: it costs every start else

    for index, pattern in enumerate(patterns):
        location = ("diffs", "exclude", index)
        try:
            GitIgnoreSpec.from_lines([pattern])
        except (ValueError, re.error):
            words = "is no pattern of gitignore's syntax: write one as a .gitignore has it"
            raise invalid(name_of(location), words, file, location) from None
    return DiffExclusionPolicy(GitIgnoreSpec.from_lines(patterns).match_file)
