"""The folders that relative paths of the settings mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path


@dataclass(frozen=True, slots=True)
class Places:
    """`configuration` is the folder of `config.toml`; `home` is None where the user has none."""

    configuration: Path
    home: Path | None
    current: Path

    @classmethod
    def of_user(cls) -> Places:
        """Those of the user and the process."""
        try:
            home = Path.home()
        except RuntimeError:  # neither HOME nor an account to look it up in
            home = None
        return cls(user_config_path("pullstate", appauthor=False), home, Path.cwd())

    def path(self, text: str, base: Path) -> Path:
        """The absolute path that a text means: `~` is the user's folder, others lie in `base`."""
        if self.home and (text == "~" or text.startswith(("~/", "~\\"))):
            return self.home / text[2:]
        return self.current / base / text
