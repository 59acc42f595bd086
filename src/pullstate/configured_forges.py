"""The forges of the configuration file, and the two that are there without being named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from pullstate.configuration import ForgeSection, ForgeTokenSection
from pullstate.configuration_file import Conflict, Location, invalid, name_of
from pullstate.domain.address import (
    GITHUB_COM,
    GITLAB_COM,
    AddressError,
    ForgeKind,
    Site,
    parse_site_url,
)
from pullstate.forges.tokens import ConfiguredSource

KNOWN = (GITHUB_COM, GITLAB_COM)

Resolve = Callable[[str], Path]  # a path as it stands in the file → absolute


@dataclass(frozen=True, slots=True)
class ForgeSettings:
    """A forge: where it is, where its tokens are, whom to trust for its certificate.

    `named` is false for github.com and gitlab.com where the file does not name them.
    """

    site: Site
    tokens: tuple[ConfiguredSource, ...] = ()
    ca_file: Path | None = None
    named: bool = True


def configured_forges(
    sections: Sequence[ForgeSection], file: Path, resolve: Resolve
) -> tuple[ForgeSettings, ...]:
    """github.com and gitlab.com where the file does not name them, then the file's own."""
    named = tuple(
        ForgeSettings(
            _site(section, file, ("forge", index)),
            tuple(_sources(section, resolve)),
            _ca_file(section, file, ("forge", index), resolve),
        )
        for index, section in enumerate(sections)
    )
    for one, other in combinations(named, 2):
        _refuse_the_same(one.site, other.site, file)
        _refuse_one_variable_for_two(one, other, file)
    urls = {forge.site.url for forge in named}
    known = tuple(ForgeSettings(site, named=False) for site in KNOWN if site.url not in urls)
    for forge in named:
        _refuse_borrowed_aliases(forge.site, [each.site for each in known + named], file)
    return known + named


def _site(section: ForgeSection, file: Path, location: Location) -> Site:
    try:
        site = parse_site_url(section.url, ForgeKind(section.kind), section.aliases)
    except AddressError as error:
        key = "aliases" if error.code == "bad_alias" else "url"
        words = f"cannot be used: {error.sentence.removesuffix('.')}"
        raise invalid(name_of((*location, key)), words, file, (*location, key)) from None
    for known in KNOWN:
        if site.hostname == known.hostname and site.kind is not known.kind:
            name = name_of((*location, "kind"))
            words = f'is not what {known.hostname} is: write kind = "{known.kind}"'
            raise invalid(name, words, file, (*location, "kind"))
    return site


def _sources(section: ForgeSection, resolve: Resolve) -> Iterator[ConfiguredSource]:
    yield from map(_with(resolve), section.token)
    if section.token_env or section.token_file or section.token_command:
        yield ConfiguredSource(
            env=section.token_env or "",
            file=str(resolve(section.token_file)) if section.token_file else "",
            command=_command(section.token_command, resolve),
        )


def _with(resolve: Resolve) -> Callable[[ForgeTokenSection], ConfiguredSource]:
    return lambda token: ConfiguredSource(
        env=token.env or "",
        file=str(resolve(token.file)) if token.file else "",
        command=_command(token.command, resolve),
        owner=token.owner,
    )


def _command(arguments: tuple[str, ...] | None, resolve: Resolve) -> tuple[str, ...]:
    if not arguments:
        return ()
    first, *others = arguments
    return (str(resolve(first)) if first.startswith("~") else first, *others)


def _ca_file(
    section: ForgeSection, file: Path, location: Location, resolve: Resolve
) -> Path | None:
    if section.ca_file is None:
        return None
    path = resolve(section.ca_file)
    if not path.is_file():
        name, words = name_of((*location, "ca_file")), f"names {path}, where there is no file"
        raise invalid(name, f"{words}: write where it lies", file, (*location, "ca_file"))
    return path


def _refuse_the_same(one: Site, other: Site, file: Path) -> None:
    if one.name == other.name:
        raise Conflict(
            f"{file} names {one.name} twice: write one [[forge]] for it.",
            file=file,
            key="forge.url",
        )


def _refuse_one_variable_for_two(one: ForgeSettings, other: ForgeSettings, file: Path) -> None:
    both = {source.env for source in one.tokens} & {source.env for source in other.tokens} - {""}
    if both:
        raise Conflict(
            f"{file} gives the token in {min(both)} to {one.site.name} and to {other.site.name}: "
            "a token belongs to one host, so write another variable for one of them.",
            file=file,
            key="forge.token_env",
        )


def _refuse_borrowed_aliases(site: Site, sites: Sequence[Site], file: Path) -> None:
    others = [other for other in sites if other != site]
    taken = {name.casefold() for other in others for name in (*other.aliases, other.hostname)}
    taken -= {site.hostname}  # two forges of one host, at different ports or paths
    for alias in site.aliases:
        if alias.casefold() in taken:
            raise Conflict(
                f"{file} has the alias {alias} for {site.name}, but it already means another "
                "forge: write each alias once.",
                file=file,
                key="forge.aliases",
            )
