"""What a `get_merge_request` call asks for, once its arguments are checked against each other."""

from __future__ import annotations

from dataclasses import dataclass

from pullstate.domain.address import (
    AddressError,
    ForgeKind,
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
PAIR = "project_id and merge_request_iid"
ONE_OF_TWO = f"send url alone, or {PAIR} without it"
LARGEST_IID = 2**31 - 1  # as both forges' schemas have it


@dataclass(frozen=True, slots=True)
class Named:
    """Which merge request is meant.

    With a numeric id and no url, `address` ends in that id: a place to be taken up under until the
    forge has said where the project lies. `also` is a path that was sent beside a url and differs
    from it: both may still be one project, before and after it moved.
    """

    address: RepositoryAddress
    number: int
    numeric_id: str | None = None
    also: RepositoryAddress | None = None

    @property
    def by_id_alone(self) -> bool:
        return self.numeric_id is not None and self.address.path == self.numeric_id

    @property
    def words(self) -> str:
        """The merge request in an error."""
        if self.by_id_alone:
            return f"Merge request {self.number} of project {self.numeric_id} on {self.site.name}"
        kind = "Pull" if self.site.kind is ForgeKind.GITHUB else "Merge"
        return f"{kind} request {self.number} of {self.address.url}"

    @property
    def site(self) -> Site:
        return self.address.site


@dataclass(frozen=True, slots=True)
class Question:
    """One merge request, and what of it."""

    named: Named
    facets: tuple[Facet, ...]
    detail: str
    notes_page: int
    notes_per_page: int


def understand(context: Context, arguments: GetMergeRequest) -> Question:
    """The question, or a ToolError that names the parameters and what to send instead."""
    facets = _facets(arguments.include)
    if arguments.detail != "stats" and Facet.DIFFS not in facets:
        raise ToolError(
            "detail shapes the diffs facet, which include does not name: send include=diffs too, "
            "or leave detail out."
        )
    if Facet.NOTES not in facets and (given := _given_pages(arguments)):
        raise ToolError(
            f"{given}: only the notes facet has pages, and include does not name it: send "
            f"include=notes too, or leave {given} out."
        )
    return Question(
        _named(context, arguments),
        facets,
        arguments.detail,
        arguments.notes_page,
        arguments.notes_per_page,
    )


def _given_pages(arguments: GetMergeRequest) -> str:
    """The parameters that page the notes and do not have the value they have when unset."""
    unset = {name: field.default for name, field in GetMergeRequest.model_fields.items()}
    names = ("notes_page", "notes_per_page")
    return " and ".join(name for name in names if getattr(arguments, name) != unset[name])


def _facets(include: str) -> tuple[Facet, ...]:
    names = [name for part in include.split(",") if (name := part.strip())]
    known = {facet.value: facet for facet in FACETS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ToolError(
            f"include has {quote(unknown[0])}, which is no facet: send one or several of "
            f"{', '.join(known)}, separated by commas."
        )
    return tuple(dict.fromkeys(known[name] for name in names))


# --- Identification ------------------------------------------------------------------------------


def _named(context: Context, arguments: GetMergeRequest) -> Named:
    _refuse_half_a_name(arguments)
    if not arguments.url:
        return _by_pair(arguments, _site(context, arguments.host))
    try:
        address, number = parse_pull_request_url(arguments.url, context.sites)
    except AddressError as error:
        raise ToolError(f"url: {error.sentence}") from None
    if arguments.host and _site(context, arguments.host) != address.site:
        raise ToolError(
            f"host is not where url lies, which is {address.site.name}: leave host out, or send "
            f"it with {PAIR} and without url."
        )
    if not arguments.project_id:
        return Named(address, number)
    if arguments.merge_request_iid != number:
        raise ToolError(
            f"url names merge request {number} and merge_request_iid another: {ONE_OF_TWO}."
        )
    return _beside_url(_by_pair(arguments, address.site), address)


def _refuse_half_a_name(arguments: GetMergeRequest) -> None:
    project, iid = bool(arguments.project_id), arguments.merge_request_iid is not None
    if project != iid:
        given, missing = PAIR.split(" and ") if project else reversed(PAIR.split(" and "))
        raise ToolError(f"{given} without {missing}: send both, or url alone.")
    if not arguments.url and not project:
        raise ToolError(f"Nothing says which merge request is meant: send url, or {PAIR}.")


def _beside_url(pair: Named, address: RepositoryAddress) -> Named:
    """The url's address, with what the pair adds to it."""
    if pair.numeric_id is not None:
        return Named(address, pair.number, numeric_id=pair.numeric_id)
    also = None if pair.address.key == address.key else pair.address
    return Named(address, pair.number, also=also)


def _by_pair(arguments: GetMergeRequest, site: Site) -> Named:
    number = arguments.merge_request_iid or 0
    if number > LARGEST_IID:
        raise ToolError(
            f"merge_request_iid is larger than any forge gives (at most {LARGEST_IID}): send the "
            "number that the merge request's web address ends in, or url."
        )
    project = arguments.project_id.strip()
    if project.isascii() and project.isdecimal():
        id_ = _numeric(project, site)
        return Named(RepositoryAddress(site, id_), number, numeric_id=id_)
    try:
        return Named(parse_path(project, site), number)
    except AddressError:
        raise ToolError(
            f"project_id: {quote(project)} is neither a path nor a numeric id on {site.name}: send "
            "the full path as its web address shows it (group/sub/project), or the id; a web "
            "address itself goes into url."
        ) from None


def _numeric(project: str, site: Site) -> str:
    if site.kind is ForgeKind.GITHUB:
        raise ToolError(
            f"project_id is a number, and {site.name} is GitHub, where repositories are named by "
            "path: send owner/name, or url."
        )
    if not int(project):
        raise ToolError("project_id is 0, which is no project's: send its id or its full path.")
    return str(int(project))


def _site(context: Context, host: str) -> Site:
    try:
        return site_for_host(host, context.sites) if host else context.default_gitlab
    except AddressError as error:
        raise ToolError(f"host: {error.sentence}") from None
