"""Empty databases for tests: on SQLite always, on PostgreSQL where the environment names one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from sqlalchemy import create_engine, make_url, text

POSTGRES = "PULLSTATE_TEST_POSTGRES"
KINDS = ["sqlite", "postgres"] if os.environ.get(POSTGRES) else ["sqlite"]


@contextmanager
def empty(kind: str, folder: Path) -> Iterator[str]:
    """Where an empty database of a kind lies, as `Store.open` takes it."""
    if kind == "sqlite":
        yield str(folder / "store.db")
        return
    name, given = f"sync_{token_hex(4)}", os.environ[POSTGRES]
    engine = create_engine(given, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    try:
        url = make_url(given).update_query_dict({"options": f"-c search_path={name}"})
        yield url.render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
        engine.dispose()
