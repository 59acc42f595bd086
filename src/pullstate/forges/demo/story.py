"""What happens at demo.invalid: half a minute in which every state a row can have is reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, ReviewDecision, Rules
from pullstate.forges.demo.world import Clock, Project, World

REPOSITORY = "acme/rocket"
DEMO_SECONDS = 26.0  # from the epoch until every act was played and synced
HISTORY = timedelta(hours=2)  # how long before the epoch the oldest pull request was opened


@dataclass(frozen=True, slots=True)
class Act:
    """Something that happens `after` the epoch (before it, where negative)."""

    after: timedelta
    play: Callable[[World, Project], object]


class Story:
    """Plays its acts as the clock passes them: the world depends on `epoch` and the time alone."""

    def __init__(self, clock: Clock, epoch: datetime, site_url: str = "https://demo.invalid"):
        self.clock = clock
        self.epoch = epoch
        self._now = epoch - HISTORY
        self.world = World(lambda: self._now, site_url)
        self.project = self.world.create_repository(REPOSITORY)
        self._coming = sorted(_acts(), key=lambda act: act.after, reverse=True)

    @property
    def ends_at(self) -> datetime:
        """When the last act is played."""
        return self.epoch + max(act.after for act in _acts())

    def advance(self) -> None:
        """Play every act that is due by now."""
        while self._coming and self.epoch + self._coming[-1].after <= self.clock():
            act = self._coming.pop()
            self._now = self.epoch + act.after
            act.play(self.world, self.project)


def _acts() -> list[Act]:
    return [*_history(), *_the_happy_path(), *_the_red_one(), *_the_queue(), *_the_rest()]


def _before(minutes: float, play: Callable[[World, Project], object]) -> Act:
    return Act(timedelta(minutes=-minutes), play)


def _at(seconds: float, play: Callable[[World, Project], object]) -> Act:
    return Act(timedelta(seconds=seconds), play)


def _history() -> list[Act]:
    """#1 merged and #2 closed long ago; #3 to #7 are open when the demo begins."""
    two_approvals = Rules(required_checks=("build", "test"), approvals=1)
    return [
        _before(120, lambda w, p: w.open(p, "Pour the launch pad", "pad", author="grace")),
        _before(110, lambda w, p: w.merge(p, 1)),
        _before(100, lambda w, p: w.open(p, "Use a bigger slingshot", "slingshot")),
        _before(90, lambda w, p: w.close(p, 2)),
        _before(60, lambda w, p: w.open(p, "Ignite both engines", "ignition")),
        _before(50, lambda w, p: w.open(p, "Count down from ten", "countdown", author="linus")),
        _before(45, lambda w, p: w.set_checks(p, 4, CheckVerdict.FAILING, "test")),
        _before(40, lambda w, p: w.open(p, "Paint the nose cone", "paint", draft=True)),
        _before(30, lambda w, p: w.open(p, "Fuel gauge", "fuel", rules=two_approvals)),
        _before(29, lambda w, p: w.set_checks(p, 6, CheckVerdict.PASSING)),
        _before(28, lambda w, p: w.set_mergeability(p, 6, MergeVerdict.BLOCKED)),
        _before(27, lambda w, p: w.review(p, 6, "grace", ReviewDecision.PENDING)),
        _before(20, lambda w, p: w.open(p, "Rename the rocket", "rename", author="margaret")),
        _before(19, lambda w, p: w.set_checks(p, 7, CheckVerdict.PASSING)),
    ]


def _the_happy_path() -> list[Act]:
    """#3: checks run, pass, it is approved and merged."""
    return [
        _at(1, lambda w, p: w.set_checks(p, 3, CheckVerdict.PENDING)),
        _at(5, lambda w, p: w.set_checks(p, 3, CheckVerdict.PASSING)),
        _at(8, lambda w, p: w.review(p, 3, "grace", ReviewDecision.APPROVED)),
        _at(14, lambda w, p: w.merge(p, 3)),
    ]


def _the_red_one() -> list[Act]:
    """#4: red, then a push, running, green, and a reviewer who wants a change."""
    thread = "DEMOT_1000_1"
    return [
        _at(3, lambda w, p: w.push(p, 4)),
        _at(4, lambda w, p: w.set_checks(p, 4, CheckVerdict.PENDING)),
        _at(9, lambda w, p: w.set_checks(p, 4, CheckVerdict.PASSING)),
        _at(11, lambda w, p: w.open_thread(p, 4, "grace", "Zero is a number too.", "count.py", 10)),
        _at(11, lambda w, p: w.review(p, 4, "grace", ReviewDecision.CHANGES_REQUESTED)),
        _at(17, lambda w, p: w.push(p, 4)),
        _at(18, lambda w, p: w.set_checks(p, 4, CheckVerdict.PASSING)),
        _at(19, lambda w, p: w.reply(p, 4, thread, "linus", "Now it counts to zero.")),
        _at(20, lambda w, p: w.resolve(p, 4, thread, "grace")),
        _at(21, lambda w, p: w.review(p, 4, "grace", ReviewDecision.APPROVED)),
    ]


def _the_queue() -> list[Act]:
    """#6: approved, queued, merged."""
    return [
        _at(6, lambda w, p: w.review(p, 6, "grace", ReviewDecision.APPROVED)),
        _at(6, lambda w, p: w.set_mergeability(p, 6, MergeVerdict.CLEAN)),
        _at(10, lambda w, p: w.queue(p, 6, 1)),
        _at(16, lambda w, p: w.merge(p, 6)),
    ]


def _the_rest() -> list[Act]:
    """#5 leaves draft, #7 falls into conflict, #8 is opened and closed again."""
    return [
        _at(7, lambda w, p: w.ready_for_review(p, 5)),
        _at(12, lambda w, p: w.set_mergeability(p, 5, MergeVerdict.BEHIND)),
        _at(15, lambda w, p: w.set_mergeability(p, 7, MergeVerdict.CONFLICTING)),
        _at(2, lambda w, p: w.open(p, "Add a self-destruct button", "button", author="mallory")),
        _at(13, lambda w, p: w.close(p, 8)),
        _at(22, lambda w, p: w.open(p, "Land it again", "landing", draft=True)),
    ]
