"""The readers that a process is, by the credentials that it can find now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from anyio import to_thread

from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.forge import Forge
from pullstate.forges.http import Credentials
from pullstate.forges.tokens import Token, TokenSources, fingerprint
from pullstate.sync.readers import ANONYMOUS, Reader, ReaderName

Connect = Callable[[Site, Credentials], Forge]

_READ_BY_ANYBODY = {ForgeKind.GITHUB, ForgeKind.DEMO}


@dataclass(slots=True)
class CredentialSource:
    """A `ForgeSource` over the token sources of each site.

    `salt` is the store's, so that no two stores name a credential alike. A site that ever had a
    token (`had_token` names those of earlier processes) is never read without one.
    """

    tokens: Mapping[Site, TokenSources]
    connect: Connect
    salt: bytes
    had_token: set[str] = field(default_factory=set)
    _readers: dict[ReaderName, Reader] = field(init=False, default_factory=dict)
    _tokens: dict[ReaderName, Token] = field(init=False, default_factory=dict)

    async def readers(self) -> Sequence[Reader]:
        """Every reader that this process is now; the same credential gives the same `Forge`."""
        found = await to_thread.run_sync(self._look, abandon_on_cancel=True)
        for name in self._readers.keys() - found.keys():
            await self._readers.pop(name).forge.aclose()
        for name, (site, token) in found.items():
            if name not in self._readers:
                forge = self.connect(site, _always(token))
                self._readers[name] = Reader(name, forge)
        self._tokens = {name: token for name, (_, token) in found.items() if token}
        return list(self._readers.values())

    async def set_aside(self, reader: Reader) -> bool:
        """The forge refused its credential: the next `readers` has the next source's."""
        token = self._tokens.get(reader.name)
        sources = self.tokens[reader.site]
        if token is None:
            return False
        sources.reject(token)
        return await to_thread.run_sync(sources.current, token.owner) is not None

    async def reconsider(self, site: Site) -> None:
        """Try what the forge refused once more: the fault may have been the forge's."""
        self.tokens[site].reconsider()

    async def aclose(self) -> None:
        """Close every forge."""
        for reader in self._readers.values():
            await reader.forge.aclose()
        self._readers.clear()

    def _look(self) -> dict[ReaderName, tuple[Site, Token | None]]:
        """In a thread: sources may run `gh` and read files."""
        return {
            self._name(site, token): (site, token)
            for site, sources in self.tokens.items()
            for token in self._of(site, sources)
        }

    def _of(self, site: Site, sources: TokenSources) -> Iterable[Token | None]:
        found = [sources.current(owner) for owner in (None, *sources.owners())]
        tokens = list(dict.fromkeys(token for token in found if token is not None))
        if tokens:
            self.had_token.add(site.url)
            return tokens
        anonymous = site.kind in _READ_BY_ANYBODY and site.url not in self.had_token
        return [None] if anonymous else []

    def _name(self, site: Site, token: Token | None) -> ReaderName:
        if token is None:
            return ReaderName(site.url, ANONYMOUS)
        return ReaderName(site.url, fingerprint(token, self.salt), token.owner or "")


def _always(token: Token | None) -> Credentials:
    """A reader is one credential: its forge sends that one and no other."""

    async def credentials() -> Token | None:
        return token

    return credentials
