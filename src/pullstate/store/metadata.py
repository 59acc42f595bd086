"""What all tables share: the naming of constraints, and how a row belongs to another."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, MetaData

from pullstate.store.columns import ID

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def belonging_to(table: str, *, primary_key: bool = False, nullable: bool = False) -> Column[int]:
    """A reference to a row without which this one means nothing."""
    target = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(
        f"{table}_id", ID, target, primary_key=primary_key, nullable=nullable, autoincrement=False
    )
