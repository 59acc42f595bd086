"""The ways to a GitLab: kinds of tokens, subpaths, ports, private authorities, odd addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from pullstate.domain.site import ForgeKind, parse_site_url
from pullstate.forges.errors import NotVisible, RateLimited, Unexpected, Unreachable
from pullstate.forges.forge import Repository
from pullstate.forges.gitlab import GitLab, connected
from pullstate.forges.token_values import Scheme, Secret, Token
from tests.forges.gitlab.conftest import client, target
from tests.simulators.certificates import private_authority
from tests.simulators.gitlab import Clock, Running, World, faults, running
from tests.simulators.gitlab.model import Project

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("kind", "scheme", "header"),
    [
        ("personal", Scheme.PRIVATE_TOKEN, "private-token"),
        ("oauth", Scheme.BEARER, "authorization"),
        ("job", Scheme.JOB_TOKEN, "job-token"),
    ],
)
async def test_every_kind_of_token_travels_in_its_own_header(
    simulator: Running,
    world: World,
    clock: Clock,
    project: Project,
    repository: Repository,
    kind: str,
    scheme: Scheme,
    header: str,
):
    world.token("secret", "ann", kind=kind)
    world.open_merge_request(project, "one")
    gitlab = client(simulator, clock, "secret", scheme)
    assert await gitlab.find_repository("group/sub/tool") == repository
    page = await gitlab.open_page(repository, None, 100)
    assert [row.number for row in page.rows] == [1]
    for request in simulator.log.matching():
        assert "secret" in request.headers[header]
        assert "secret" not in request.line
    await gitlab.aclose()


async def test_a_public_project_is_read_without_a_token(
    simulator: Running, world: World, clock: Clock
):
    project = world.project("group/open", visibility="public")
    world.open_merge_request(project, "one")
    gitlab = client(simulator, clock, None)
    repository = await gitlab.find_repository("group/open")
    page = await gitlab.open_page(repository, None, 100)
    assert [row.number for row in page.rows] == [1]
    await gitlab.aclose()


async def test_a_private_project_is_not_visible_without_a_token(
    simulator: Running, clock: Clock, project: Project
):
    gitlab = client(simulator, clock, None)
    with pytest.raises(NotVisible):
        await gitlab.find_repository("group/sub/tool")
    await gitlab.aclose()


@pytest.mark.parametrize("root", ["", "/gitlab", "/tools/gitlab"])
async def test_an_install_keeps_its_subpath(root: str, world: World, clock: Clock):
    project = world.project("group/sub/tool")
    change = world.open_merge_request(project, "one")
    world.note(change, thread=True)
    with running(world, root=root) as simulator:
        gitlab = client(simulator, clock)
        repository = await gitlab.find_repository("group/sub/tool")
        [reading] = await gitlab.read([target(repository, change)])
        [threads] = await gitlab.threads([target(repository, change)])
        await gitlab.aclose()
    url = f"{simulator.base}/group/sub/tool"
    assert reading.pull_request.url == f"{url}/-/merge_requests/1"
    assert reading.pull_request.head.repository_url == url
    assert threads.threads.threads[0].comments[0].url.startswith(f"{url}/-/merge_requests/1#note_")
    for request in simulator.log.matching():
        assert request.path.startswith(f"{root}/api/")


async def test_a_path_is_encoded_once(gitlab: GitLab, simulator: Running, world: World):
    world.project("group/über/a b")
    await gitlab.find_repository("group/über/a b")
    [request] = simulator.log.matching()
    assert request.path.endswith("/projects/group%2F%C3%BCber%2Fa%20b")


@pytest.mark.parametrize(
    "spelled", ["https://www.gitlab.com/", "https://gitlab.com/api/v4/", "https://GitLab.com"]
)
async def test_other_spellings_of_gitlab_com_lead_to_its_api(spelled: str, clock: Clock):
    site = parse_site_url(spelled, ForgeKind.GITLAB)
    http = connected(site, nobody, clock)
    assert (site.url, http.host) == ("https://gitlab.com", "gitlab.com")


async def nobody() -> Token | None:
    return None


async def test_a_private_authority_is_trusted_where_it_is_configured(
    world: World, clock: Clock, tmp_path: Path
):
    world.project("group/tool")
    made = private_authority(tmp_path)
    with running(world, tls=made.tls) as simulator:
        gitlab = client(simulator, clock, ca_file=made.authority)
        assert await gitlab.find_repository("group/tool")
        await gitlab.aclose()
        distrusting = client(simulator, clock)
        with pytest.raises(Unreachable):
            await distrusting.find_repository("group/tool")
        await distrusting.aclose()


async def test_a_redirect_to_another_host_is_not_followed_and_no_token_goes_there(
    gitlab: GitLab, simulator: Running, clock: Clock
):
    stranger = World(clock=clock)
    with running(stranger) as other:
        simulator.faults.add(faults.redirect_to(f"{other.api}/projects/1"))
        with pytest.raises(Unexpected):
            await gitlab.find_repository("group/sub/tool")
        assert len(other.log) == 0


@pytest.mark.parametrize("retry_after", [30, "Mon, 02 Jun 2025 09:00:30 GMT"])
async def test_a_limit_says_when_to_ask_again(
    gitlab: GitLab, simulator: Running, clock: Clock, retry_after: str | int
):
    simulator.faults.add(faults.too_many_requests(retry_after))
    with pytest.raises(RateLimited) as limited:
        await gitlab.find_repository("group/sub/tool")
    assert (limited.value.until - clock.now).total_seconds() == 30


async def test_a_limit_that_does_not_say_is_a_minute(
    gitlab: GitLab, simulator: Running, clock: Clock
):
    simulator.faults.add(faults.too_many_requests())
    with pytest.raises(RateLimited) as limited:
        await gitlab.find_repository("group/sub/tool")
    assert (limited.value.until - clock.now).total_seconds() == 60


async def test_the_last_request_of_a_minute_tells_when_the_next_one_may_be_sent(
    gitlab: GitLab, world: World, clock: Clock, project: Project
):
    world.rate_limit = 1
    await gitlab.find_repository("group/sub/tool")
    with pytest.raises(RateLimited) as limited:
        await gitlab.find_repository("group/sub/tool")
    assert (limited.value.until - clock.now).total_seconds() == 60


async def test_no_error_shows_the_token_or_the_path(
    simulator: Running, clock: Clock, project: Project
):
    gitlab = client(simulator, clock, "glpat-very-secret")
    simulator.faults.add(faults.forbidden())
    with pytest.raises(Exception) as raised:
        await gitlab.find_repository("group/sub/tool")
    await gitlab.aclose()
    assert "glpat" not in repr(raised.value) + repr(Token(Secret("glpat"), "x", Scheme.BEARER))
    assert "group" not in str(raised.value)
