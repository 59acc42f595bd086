"""Alembic's entry: over the connection that the store upgrades with, or one made for a command.

`alembic -x store=URL upgrade head`, `alembic revision --autogenerate` and so on work too; without
`-x store=` they go over an empty database in memory.
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, create_engine

from pullstate.store.schema import metadata


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=True,
        compare_type=True,
        user_module_prefix="columns.",
    )
    with context.begin_transaction():
        context.run_migrations()


def main() -> None:
    given = context.config.attributes.get("connection")
    if isinstance(given, Connection):
        migrate(given)
        return
    url = context.get_x_argument(as_dictionary=True).get("store", "sqlite://")
    with (given or create_engine(url)).connect() as connection:
        migrate(connection)
        connection.commit()


main()
