"""What a `get_merge_request` call asks for, once its arguments are checked against each other."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pullstate.domain.address import (
    AddressError,
    RepositoryAddress,
    Site,
    parse_path,
    parse_pull_request_url,
    site_for_host,
)
from pullstate.domain.merge_request import Facet
from pullstate.domain.text import quote
from pullstate.server.context import Context
from pullstate.server.registry import ToolError
from pullstate.server.tools.get_merge_request import GetMergeRequest

FACETS = (
    Facet.DIFFS,
    Facet.COMMITS,
    Facet.NOTES,
    Facet.PIPELINES,
    Facet.CONFLICTS,
    Facet.DISCUSSIONS,
)
DETAILS = ("none", "stats", "full_patch")
PAIR = "project_id and merge_request_iid"


@dataclass(frozen=True, slots=True)
class Question:
    """One merge request, and what of it."""

    address: RepositoryAddress
    number: int
    facets: tuple[Facet, ...]
    detail: str
    notes_page: int
    notes_per_page: int


def understand(context: Context, arguments: GetMergeRequest) -> Question:
    """The question, or a ToolError that names the parameters and what to send instead."""
    address, number = _identify(context, arguments)
    facets = _facets(arguments.include)
    detail = arguments.detail or "stats"
    if detail not in DETAILS:
        raise ToolError(f"detail is {quote(detail)}: send one of {', '.join(DETAILS)}.")
    page, per_page = arguments.notes_page or 1, arguments.notes_per_page or 20
    if detail != "stats" and Facet.DIFFS not in facets:
        raise ToolError("detail shapes the diffs facet: send include=diffs with it, or no detail.")
    if (page, per_page) != (1, 20) and Facet.NOTES not in facets:
        raise ToolError(
            "notes_page and notes_per_page page the notes facet: send include=notes with them, "
            "or neither."
        )
    return Question(address, number, facets, detail, page, per_page)


def _identify(context: Context, arguments: GetMergeRequest) -> tuple[RepositoryAddress, int]:
    project, iid = arguments.project_id, arguments.merge_request_iid
    if bool(project) != (iid is not None):
        given, missing = PAIR.split(" and ") if project else reversed(PAIR.split(" and "))
        raise ToolError(f"{given} without {missing}: send both, or url alone.")
    if not arguments.url and not project:
        raise ToolError(f"Send url, or {PAIR}: there is nothing to look up.")
    if not arguments.url:
        return _project(context, arguments), iid or 0
    try:
        named = parse_pull_request_url(arguments.url, context.sites)
    except AddressError as error:
        raise ToolError(f"url: {error.sentence}") from None
    if project and not _agree(context, arguments, named):
        raise ToolError(f"url and {PAIR} name different merge requests: send the one you mean.")
    return named


def _project(context: Context, arguments: GetMergeRequest) -> RepositoryAddress:
    site = _site(context, arguments.host)
    if arguments.project_id.isdecimal():
        return RepositoryAddress(site, arguments.project_id)
    try:
        return parse_path(arguments.project_id, site)
    except AddressError as error:
        raise ToolError(f"project_id: {error.sentence}") from None


def _site(context: Context, host: str) -> Site:
    try:
        return site_for_host(host, context.sites) if host else context.default_gitlab
    except AddressError as error:
        raise ToolError(f"host: {error.sentence}") from None


def _agree(
    context: Context, arguments: GetMergeRequest, named: tuple[RepositoryAddress, int]
) -> bool:
    """Whether the ids say what the url says; a numeric project is compared by its iid alone."""
    address, number = named
    if number != arguments.merge_request_iid:
        return False
    if arguments.host and _site(context, arguments.host) != address.site:
        return False
    if arguments.project_id.isdecimal():
        return True
    try:
        return parse_path(arguments.project_id, address.site).key == address.key
    except AddressError:
        return False


def _facets(include: str) -> tuple[Facet, ...]:
    names = _listed(include)
    known = {facet.value: facet for facet in FACETS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ToolError(
            f"include has {quote(unknown[0])}, which is no facet: send one or several of "
            f"{', '.join(known)}, separated by commas."
        )
    return tuple(dict.fromkeys(known[name] for name in names))


def _listed(include: str) -> list[str]:
    """Names separated by commas; clients that know arrays send one, or its JSON text."""
    if include.lstrip().startswith("["):
        try:
            return [str(name).strip() for name in json.loads(include)]
        except ValueError:
            pass
    return [name.strip() for name in include.split(",") if name.strip()]
