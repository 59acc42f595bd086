"""Whether a head without checks has none, or none yet."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select

from pullstate.domain.pull_request import CheckVerdict
from pullstate.store.schema import pull_request

_LOOKED_AT = 500  # of the newest: the answer for a repository without checks must be cheap too

_rows = pull_request.c
_NEWEST = (
    select(_rows.checks_verdict)
    .where(_rows.repository_id == bindparam("repository_id"), _rows.gone_at.is_(None))
    .order_by(_rows.unfinished.desc(), _rows.opened_at.desc(), _rows.number.desc())
    .limit(_LOOKED_AT)
    .subquery()
)
_ANY = [verdict.value for verdict in CheckVerdict if verdict is not CheckVerdict.NONE]
_HAD_CHECKS = select(_NEWEST.c.checks_verdict).where(_NEWEST.c.checks_verdict.in_(_ANY)).limit(1)


def had_checks(connection: Connection, repository_id: int) -> bool:
    """Whether one of a repository's newest pull requests has checks: those of a new head come."""
    given = {"repository_id": repository_id}
    return connection.execute(_HAD_CHECKS, given).first() is not None
