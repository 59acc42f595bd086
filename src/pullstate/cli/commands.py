"""The commands as they are typed."""

from __future__ import annotations

import click

from pullstate.cli.options import (
    DONE,
    Misused,
    json_option,
    settings_of,
    settings_options,
    speak_any_language,
)
from pullstate.settings import Settings

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
SECONDS = click.IntRange(1, 86_400)


def pullstate(parent: int) -> int:
    """Run the command line of this process, whose parent had this pid; its exit status."""
    speak_any_language()
    _pullstate.main(prog_name="pullstate", obj=parent)
    return DONE  # not reached: click leaves by SystemExit


@click.group(invoke_without_command=True, context_settings=CONTEXT)
@click.version_option(package_name="pullstate", message="%(prog)s %(version)s")
@click.option("--config", metavar="FILE", help="The configuration file.")
@click.option("--store", metavar="URL", help="The store: a path or a SQLAlchemy URL.")
@click.pass_context
def _pullstate(context: click.Context, config: str | None, store: str | None) -> None:
    """Knows where every pull request stands. Without a command: serve."""
    context.default_map = {name: {"config": config, "store": store} for name in _pullstate.commands}
    if context.invoked_subcommand is None:
        from pullstate.cli.serving import serve

        context.exit(serve(settings_of(config, store), context.obj))


@_pullstate.command()
@settings_options
@click.option("--no-sync", is_flag=True, help="Answer from the store; leave syncing to others.")
@click.option("--tool-prefix", default="", metavar="P", help="Begin every tool's name with P.")
@click.pass_context
def serve(context: click.Context, settings: Settings, no_sync: bool, tool_prefix: str) -> None:
    """The MCP server over standard input and output, with its sync loop."""
    from pullstate.cli.serving import serve

    context.exit(serve(settings, context.obj, syncs=not no_sync, prefix=tool_prefix))


@_pullstate.command()
@settings_options
@click.option("--once", is_flag=True, help="Bring every repository up to date, then end.")
@json_option
@click.pass_context
def sync(context: click.Context, settings: Settings, once: bool, as_json: bool) -> None:
    """The sync loop alone."""
    from pullstate.cli import syncing

    context.exit(syncing.once(settings, as_json) if once else syncing.forever(settings))


@_pullstate.command()
@settings_options
@click.argument("url", nargs=-1, required=True)
def track(settings: Settings, url: tuple[str, ...]) -> None:
    """Keep repositories in sync from now on, whole."""
    from pullstate.cli import tracking

    tracking.track(settings, url)


@_pullstate.command()
@settings_options
@click.argument("url", nargs=-1, required=True)
def untrack(settings: Settings, url: tuple[str, ...]) -> None:
    """Keep repositories in sync no longer; what is stored stays."""
    from pullstate.cli import tracking

    tracking.untrack(settings, url)


@_pullstate.command(name="list")
@settings_options
@click.argument("url")
@click.option("--branch", default="", metavar="B", help="Only those opened from branch B.")
@click.option("--limit", default=0, metavar="N", help="Rows a page, at most 100.")
@click.option("--cursor", default="", help="Go on after an earlier page.")
@click.option("--max-age", type=int, metavar="SECONDS", help="Refresh first if older.")
@json_option
def list_(
    settings: Settings,
    url: str,
    branch: str,
    limit: int,
    cursor: str,
    max_age: int | None,
    as_json: bool,
) -> None:
    """The pull requests of a repository, or of one branch."""
    from pullstate.cli import asking, tables

    arguments = {
        "repositoryUrl": url,
        "headBranch": branch,
        "pagination": {"limit": limit, "cursor": cursor},
        "maxAgeSeconds": max_age,
    }
    asking.ask(settings, "list_pull_requests", arguments, None if as_json else tables.pull_requests)


@_pullstate.command()
@settings_options
@click.argument("repository", metavar="OWNER/REPO")
@click.argument("number", type=int)
@click.option("--resolved/--unresolved", default=None, help="Only those.")
@click.option("--host", default="", help="A configured forge's host.")
@click.option("--limit", default=0, metavar="N", help="Threads a page, at most 100.")
@click.option("--cursor", default="", help="Go on after an earlier page.")
@json_option
def threads(
    settings: Settings,
    repository: str,
    number: int,
    resolved: bool | None,
    host: str,
    limit: int,
    cursor: str,
    as_json: bool,
) -> None:
    """The review threads of a pull request."""
    from pullstate.cli import asking, tables

    owner, slash, repo = repository.rpartition("/")
    if "://" in repository:
        raise Misused(f"{repository} is an address: write OWNER/REPO, and its host with --host.")
    if not slash:
        raise Misused(f"{repository} names no owner: write OWNER/REPO.")
    arguments = {
        "owner": owner,
        "repo": repo,
        "pull_number": number,
        "is_resolved": resolved,
        "host": host,
        "limit": limit,
        "cursor": cursor,
    }
    shown = None if as_json else tables.threads
    asking.ask(settings, "list_pull_request_review_threads", arguments, shown)


@_pullstate.command()
@settings_options
@click.argument("url")
@click.option("--include", default="", metavar="FACETS", help="Facets, separated by commas.")
@click.option("--detail", default="", help="Of diffs: none, stats or full_patch.")
@click.option("--notes-page", type=int, metavar="N", help="Of notes: 1 or more.")
@click.option("--notes-per-page", type=int, metavar="N", help="Of notes: 1 to 100.")
@json_option
def show(settings: Settings, url: str, as_json: bool, **options: str | int | None) -> None:
    """One merge request or pull request, by its web address."""
    from pullstate.cli import asking, pages

    arguments = {"url": url, **options}
    asking.ask(settings, "get_merge_request", arguments, None if as_json else pages.merge_request)


@_pullstate.command()
@settings_options
@click.argument("tool")
@click.argument("arguments", default="{}", metavar="JSON")
def call(settings: Settings, tool: str, arguments: str) -> None:
    """Any tool with raw arguments; its reply on standard output."""
    from pullstate.cli import asking

    asking.call(settings, tool, arguments)


@_pullstate.command()
@settings_options
@json_option
def status(settings: Settings, as_json: bool) -> None:
    """What is stored, how fresh it is, and what fails."""
    from pullstate.cli import statuses

    statuses.status(settings, as_json)


@_pullstate.command()
@click.option("--serve", "serves", is_flag=True, help="An MCP server over the demo.")
@click.option("--for", "seconds", type=SECONDS, metavar="SECONDS", help="End after so long.")
@click.option("--tool-prefix", default="", metavar="P", help="Begin every tool's name with P.")
@click.pass_context
def demo(context: click.Context, serves: bool, seconds: int | None, tool_prefix: str) -> None:
    """The whole thing on a forge without a network, over a throwaway store."""
    from pullstate.cli import demo

    context.exit(demo.serve(context.obj, tool_prefix) if serves else demo.watch(seconds))
