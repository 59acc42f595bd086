"""Where a store lies, and where it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pullstate.store.engine import Store
from pullstate.store.errors import StoreMisplaced, StoreUnreachable
from pullstate.store.location import file_system, is_remote, locate, shown

LOCAL = "/dev/sda1 / ext4 rw 0 0\n"


@pytest.fixture
def mounts(tmp_path: Path):
    """Writes a table of mounts, the root being local; returns its path."""

    def write(*lines: str) -> Path:
        table = tmp_path / "mounts"
        table.write_text(LOCAL + "".join(f"{line}\n" for line in lines))
        return table

    return write


@pytest.mark.parametrize(
    "kind",
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "9p",
        "virtiofs",
        "fuse",
        "fuse.sshfs",
        "fuse.gvfsd-fuse",
        "fuse.osxfs",
        "ceph",
        "vboxsf",
    ],
)
def test_a_path_that_was_named_on_a_network_or_virtual_file_system_is_refused(
    tmp_path, mounts, kind
):
    table = mounts(f"server:/x {tmp_path}/home {kind} rw 0 0")
    with pytest.raises(StoreMisplaced, match=rf"{kind} file system.*PostgreSQL"):
        Store.open(tmp_path / "home" / "deep" / "pullstate.db", mounts=table)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "fuseblk"]
)
def test_local_ones_are_taken(tmp_path, mounts, kind):
    table = mounts(f"disk {tmp_path} {kind} rw 0 0")
    assert is_remote(tmp_path / "pullstate.db", table) is None


def test_the_deepest_mount_counts_and_of_two_at_one_place_the_later(tmp_path, mounts):
    table = mounts(
        f"server:/x {tmp_path} nfs4 rw 0 0",
        f"disk {tmp_path}/local ext4 rw 0 0",
        f"server:/y {tmp_path}/local/twice nfs rw 0 0",
        f"disk {tmp_path}/local/twice xfs rw 0 0",
    )
    assert file_system(tmp_path / "a", table) == "nfs4"
    assert file_system(tmp_path / "local" / "a", table) == "ext4"
    assert file_system(tmp_path / "local" / "twice" / "a", table) == "xfs"
    assert file_system(tmp_path / "localhost" / "a", table) == "nfs4"


def test_mount_points_with_spaces_and_links_into_them_are_seen(tmp_path, mounts):
    place = tmp_path / "my drive"
    place.mkdir()
    link = tmp_path / "link"
    link.symlink_to(place)
    table = mounts(f"x {tmp_path}/my\\040drive cifs rw 0 0", "broken line", "")
    assert is_remote(link / "pullstate.db", table) == "cifs"


def test_where_the_system_keeps_no_table_every_path_is_taken(tmp_path):
    assert file_system(tmp_path, tmp_path / "none") == ""
    assert is_remote(tmp_path, tmp_path / "none") is None


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of this test's own, by the variables that platforms look at."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def test_the_default_place_is_private(home, open_store):
    store = open_store()
    assert store.path == home / "data" / "pullstate" / "pullstate.db"
    assert store.path.parent.stat().st_mode & 0o777 == 0o700
    assert store.notes == ()
    store.write_now(lambda _connection: None)
    files = {each.name: each.stat().st_mode & 0o777 for each in store.path.parent.iterdir()}
    assert set(files.values()) == {0o600}
    assert {"pullstate.db", "pullstate.db-wal"} <= set(files)


@pytest.fixture
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A local folder that everybody may write to."""
    return tmp_path_factory.mktemp("lasting")


def test_the_default_falls_back_to_a_private_local_folder_and_says_so(home, mounts, lasting):
    table = mounts(f"server:/home {home} nfs4 rw 0 0")
    found = locate(None, table, lasting)
    assert found.path.parent.parent == lasting
    assert found.path.parent.stat().st_mode & 0o777 == 0o700
    assert "nfs4" in found.notes[0]
    assert str(found.path.parent) in found.notes[0]
    assert locate(None, table, lasting) == found


def test_the_default_falls_back_where_its_folder_cannot_be_made(home, lasting):
    (home / "data").write_text("a file, not a folder")
    found = locate(None, lasting=lasting)
    assert "cannot be made" in found.notes[0]
    assert found.path.is_relative_to(lasting)


def test_a_fallback_that_others_could_have_made_or_may_enter_is_refused(home, mounts, lasting):
    table = mounts(f"server:/home {home} nfs4 rw 0 0")
    folder = locate(None, table, lasting).path.parent
    folder.chmod(0o755)
    with pytest.raises(StoreUnreachable, match="not a private folder"):
        locate(None, table, lasting)
    folder.rmdir()
    folder.symlink_to(home)
    with pytest.raises(StoreUnreachable, match="not a private folder"):
        locate(None, table, lasting)


@pytest.mark.parametrize("spelling", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}"])
def test_a_file_is_named_by_its_path_or_url(tmp_path, spelling):
    path = tmp_path / "s.db"
    assert locate(spelling.format(path)).path == path
    assert locate(path).path == path


def test_a_path_may_hold_what_means_something_in_a_url(tmp_path, open_store):
    path = tmp_path / "a ?b#c%20d&mode=ro" / "s%.db"
    store = open_store(path)
    assert (store.path, store.read_only) == (path, False)
    assert path.stat().st_size > 0


def test_a_folder_that_was_named_holds_the_store(tmp_path):
    assert locate(tmp_path).path == tmp_path / "pullstate.db"


def test_a_home_may_be_written_short(home):
    assert locate("~/s.db").path == home / "s.db"


def test_a_folder_of_the_path_is_made_private(tmp_path, open_store):
    store = open_store(tmp_path / "deep" / "s.db")
    assert store.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_link_is_followed_to_the_real_file(tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "real.db")
    assert locate(link).path == tmp_path / "real.db"


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:///file::memory:?cache=shared&uri=true", "in memory"),
        ("mysql://root@host/db", "not mysql"),
        ("postgresql://host:port/database", "cannot be read"),
        ("://", "cannot be read"),
    ],
)
def test_what_no_store_can_be_is_refused_in_words(named, words):
    with pytest.raises(StoreUnreachable, match=words):
        locate(named)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2"])
def test_any_spelling_of_postgresql_uses_the_one_driver(scheme):
    found = locate(f"{scheme}://ann:secret@db.example/pullstate?sslpassword=hidden&sslmode=require")
    assert found.url.drivername == "postgresql+psycopg"
    assert found.path is None
    text = shown(found.url)
    assert "secret" not in text
    assert "hidden" not in text
    assert "db.example/pullstate" in text


def test_a_path_that_cannot_be_made_is_said_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnreachable, match="cannot be made"):
        Store.open(tmp_path / "file" / "s.db")
