"""A session over a new store and a demo world, with a clock that tests hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.demo import DemoForge, Project, World
from pullstate.store import agenda, lease, reading, writing
from pullstate.store.agenda import Charge
from pullstate.store.engine import Store
from pullstate.store.records import Depth, StoredPullRequest, Sweep
from pullstate.sync import backfill, delta
from pullstate.sync.charges import identified
from pullstate.sync.lanes import Lanes
from pullstate.sync.readers import Reader, ReaderName
from pullstate.sync.session import Session
from tests.store.listed import listed

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
I = timedelta(seconds=60)  # noqa: E741  # the interval, as the schedule's sentences call it
SITE = Site(ForgeKind.DEMO, "https://demo.invalid")


class HeldClock:
    """Time that only tests and sleepers move: a sleep is over at once, and so much later."""

    def __init__(self, at: datetime = NOW) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=max(seconds, 0))

    def advance(self, by: timedelta) -> None:
        self.at += by


@dataclass(slots=True)
class Stage:
    """Everything one reader's work needs, and the questions that tests ask of the outcome."""

    store: Store
    clock: HeldClock
    world: World
    forge: DemoForge
    session: Session
    lanes: Lanes

    @classmethod
    def build(cls, place: str, *, kind: ForgeKind = ForgeKind.DEMO) -> Stage:
        """A stage over the empty database at `place`."""
        clock = HeldClock()
        store = Store.open(place)
        world = World(clock.now)
        forge = DemoForge(Site(kind, SITE.url), world)
        reader = Reader(ReaderName(SITE.url, "demo"), forge)
        fence = store.write_now(lease.take, reader.key, "me", 10**9)
        store.write_now(lease.enroll, "me", 1, "1", [str(reader.name)], NOW + timedelta(days=900))
        session = Session(
            store, reader, lambda: fence, clock, interval=I, within=timedelta(days=999)
        )
        return cls(store, clock, world, forge, session, Lanes(session))

    def track(self, project: Project, depth: Depth = Depth.ALL, by: str = "command") -> int:
        """Want a repository of the world; our id of it."""
        address = RepositoryAddress(self.forge.site, project.repository.path)
        return self.store.write_now(writing.track, address, depth, by, self.clock.now()).id

    def charge(self, repository_id: int) -> Charge:
        return self.store.read_now(agenda.charge, repository_id)

    def sweep(self, repository_id: int) -> Sweep:
        return self.charge(repository_id).sweep

    def rows(self, repository_id: int) -> dict[int, StoredPullRequest]:
        """What a list would show, by number."""
        return listed(self.store, repository_id)

    def stored(self, repository_id: int, number: int) -> StoredPullRequest:
        found = self.store.read_now(reading.pull_request, repository_id, number)
        assert found is not None
        return found

    def asked(self, *questions: str) -> list[tuple[str, str]]:
        """What the forge was asked, of all or of some questions."""
        return [each for each in self.forge.requests if not questions or each[0] in questions]

    def cannot_probe(self) -> None:
        """As a forge that has no free look."""

        async def probe(repository: object, etag: str | None) -> None:
            return None

        self.forge.probe = probe

    async def swept(self, project: Project, depth: Depth = Depth.ALL) -> int:
        """Track a repository and sweep it for the first time; our id of it."""
        repository_id = self.track(project, depth)
        while not self.sweep(repository_id).swept:
            await self.lanes.backfill()
        self.forge.requests.clear()
        return repository_id

    async def delta(self, *repository_ids: int) -> None:
        await delta.run(self.session, [self.charge(id_) for id_ in repository_ids])

    async def begun(self, repository_id: int) -> Charge:
        """The charge, identified and with its watermark fixed."""
        charge = await identified(self.session, self.charge(repository_id))
        return await backfill.begin(self.session, charge)
