"""What the forges' own command lines, `gh` and `glab`, keep of a login."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pullstate.domain.site import Site
from pullstate.forges.token_sources import Command, Surroundings
from pullstate.forges.token_values import NOTHING, Reading, Secret, read_value


def gh_login(site: Site, surroundings: Surroundings) -> Command:
    """`gh auth token` for one host: from gh's own file or keyring, never from its environment."""
    arguments = ("gh", "auth", "token", "--hostname", site.host)
    return Command("gh auth token", arguments, surroundings, tuple(_gh_hosts_files(surroundings)))


def _gh_hosts_files(surroundings: Surroundings) -> Iterator[Path]:
    environ, home = surroundings.environ, surroundings.home
    if folder := environ.get("GH_CONFIG_DIR"):
        yield Path(folder) / "hosts.yml"
    if folder := environ.get("XDG_CONFIG_HOME"):
        yield Path(folder) / "gh" / "hosts.yml"
    if folder := environ.get("AppData"):
        yield Path(folder) / "GitHub CLI" / "hosts.yml"
    if home:
        yield home / ".config" / "gh" / "hosts.yml"


class GlabLogin:
    """The token that glab keeps for one host, in its file or in the keyring that the file names.

    glab marks OAuth logins with `is_oauth2` and renews their tokens whenever it runs itself; the
    renewed one is seen here with the next reading. `hosts` are the spellings under which the file
    may have the host, best first.
    """

    name = "glab configuration"

    def __init__(self, hosts: Sequence[str], surroundings: Surroundings) -> None:
        self._hosts = tuple(hosts)
        self._surroundings = surroundings
        self._content = b""
        self._entry: tuple[str, Mapping[str, str]] | None = None
        self._keyring: Command | None = None

    def read(self) -> Reading:
        content = self._read_file()
        if content is None:
            return NOTHING
        if content != self._content:
            self._content, self._entry = content, _entry(content, self._hosts)
            self._keyring = self._keyring_of_entry()
        return self._reading()

    def doubt(self, secret: Secret) -> None:
        if self._keyring:
            self._keyring.doubt(secret)

    def _reading(self) -> Reading:
        if self._entry is None:
            return NOTHING
        _, facts = self._entry
        found = self._keyring.read() if self._keyring else read_value(facts.get("token", ""))
        is_oauth = _is_true(facts.get("is_oauth2"))
        return Reading(found.secret, found.problem, bearer=found.bearer or is_oauth)

    def _keyring_of_entry(self) -> Command | None:
        if self._entry is None or self._entry[1].get("token"):
            return None
        host, facts = self._entry
        if not _is_true(facts.get("use_keyring")):
            return None
        arguments = ("glab", "config", "get", "token", "--host", host)
        return Command(self.name, arguments, self._surroundings)

    def _read_file(self) -> bytes | None:
        """The first of glab's files that is there; glab itself reads no second one."""
        for path in _glab_files(self._surroundings):
            try:
                return self._surroundings.read(path)
            except OSError:
                continue
        return None


def _glab_files(surroundings: Surroundings) -> Iterator[Path]:
    """`glab config path --help`: GLAB_CONFIG_DIR alone, else ~/.config, else the platform's."""
    environ, home = surroundings.environ, surroundings.home
    if folder := environ.get("GLAB_CONFIG_DIR"):
        yield Path(folder) / "config.yml"
        return
    if home:
        yield home / ".config" / "glab-cli" / "config.yml"
    if folder := environ.get("XDG_CONFIG_HOME"):
        yield Path(folder) / "glab-cli" / "config.yml"
    if home:
        yield home / "Library" / "Application Support" / "glab-cli" / "config.yml"
    if folder := environ.get("LOCALAPPDATA"):
        yield Path(folder) / "glab-cli" / "config.yml"


def _entry(content: bytes, hosts: Sequence[str]) -> tuple[str, Mapping[str, str]] | None:
    entries = {host.casefold(): (host, facts) for host, facts in _hosts(content)}
    return next((entries[host.casefold()] for host in hosts if host.casefold() in entries), None)


def _hosts(content: bytes) -> list[tuple[str, dict[str, str]]]:
    # BaseLoader takes every scalar for text: glab writes secrets as `!!null glpat-…`, which a
    # loader that minds tags reads as nothing.
    import yaml  # only where glab has been used: it costs every start otherwise

    try:
        document = yaml.load(content, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return []
    hosts = document.get("hosts") if isinstance(document, dict) else None
    pairs = hosts.items() if isinstance(hosts, dict) else ()
    return [(str(host), _texts(facts)) for host, facts in pairs if isinstance(facts, dict)]


def _texts(facts: dict[object, object]) -> dict[str, str]:
    return {str(key): value for key, value in facts.items() if isinstance(value, str)}


def _is_true(text: str | None) -> bool:
    return (text or "").strip().lower() in ("true", "yes", "1")
