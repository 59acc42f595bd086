"""Which changed files a reader of diffs is spared, and why.

A file that is left out is still counted and always named: one entry for each of its paths that a
rule matches, so that a rename out of `dist/` says which of its two names lay there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from pullstate.domain.merge_request import FileDiff

# GitLab's default `diff_max_patch_bytes`; GitHub has no flag of its own.
MAX_PATCH_BYTES = 200 * 1024


class Reason(StrEnum):
    """Why a path is left out, spelled as answers spell it."""

    VENDORED = "vendored"
    LOCKFILE = "generated/lockfile"
    MINIFIED = "generated/minified"
    GENERATED = "generated"
    BINARY = "binary"
    TOO_LARGE = "too_large"
    POLICY = "excluded by policy"


@dataclass(frozen=True, slots=True)
class ExcludedPath:
    """A path that a rule matched."""

    path: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A file is left out: each path that matched, the old one first. Never empty."""

    paths: tuple[ExcludedPath, ...]


def nothing(path: str) -> bool:
    """The project excludes no path of its own."""
    return False


@dataclass(frozen=True, slots=True)
class DiffExclusionPolicy:
    """Decides file by file. `matches` says whether the project's own patterns exclude a path.

    The first of these that holds for a path is its reason:

    1. `vendored`: it lies under `dist/`, `vendor/` or `node_modules/`, at any depth;
    2. `generated/lockfile`: a package manager's record of exact versions, in any folder;
    3. `generated/minified`: minified code, or the source map beside it;
    4. `generated`: a name that only generators give;
    5. `generated`, `binary`, `too_large`: the forge says so of the file, or its patch shows it;
    6. `excluded by policy`: the project's own patterns.

    What the forge says of a file is about its present path, so 5 never matches an old one. A
    negated pattern of the project (`!docs/api.md`) takes back what its earlier patterns excluded;
    it cannot bring back what 1 to 5 leave out.
    """

    matches: Callable[[str], bool] = nothing

    def decide(self, file: FileDiff) -> Exclusion | None:
        """Why `file` is left out, or None where it is shown."""
        old, found = file.old_path, []
        if old and old != file.path and (reason := self._of_old_path(old)):
            found.append(ExcludedPath(old, reason))
        if reason := self._of_present_path(file):
            found.append(ExcludedPath(file.path, reason))
        return Exclusion(tuple(found)) if found else None

    def _of_old_path(self, path: str) -> Reason | None:
        return reason_of_path(path) or self._of_project(path)

    def _of_present_path(self, file: FileDiff) -> Reason | None:
        return reason_of_path(file.path) or reason_of_content(file) or self._of_project(file.path)

    def _of_project(self, path: str) -> Reason | None:
        return Reason.POLICY if self.matches(path) else None


def reason_of_path(path: str) -> Reason | None:
    """What the name and the place of a file alone say (rules 1 to 4)."""
    *folders, name = path.split("/")
    if not VENDORED_FOLDERS.isdisjoint(folders):
        return Reason.VENDORED
    if LOCKFILE.fullmatch(name):
        return Reason.LOCKFILE
    if MINIFIED.search(name):
        return Reason.MINIFIED
    if not GENERATED_FOLDERS.isdisjoint(folders) or GENERATED.search(name):
        return Reason.GENERATED
    return None


def reason_of_content(file: FileDiff) -> Reason | None:
    """What the forge's flags and the patch say (rule 5)."""
    if file.generated:
        return Reason.GENERATED
    if file.binary or is_binary_patch(file.patch):
        return Reason.BINARY
    if file.too_large or len((file.patch or "").encode(errors="replace")) > MAX_PATCH_BYTES:
        return Reason.TOO_LARGE
    return None


def flagged(file: FileDiff) -> FileDiff:
    """The file with flags that say what its patch shows: they decide without the patch, too."""
    match reason_of_content(file):
        case Reason.BINARY:
            return replace(file, binary=True)
        case Reason.TOO_LARGE:
            return replace(file, too_large=True)
    return file


def is_binary_patch(patch: str | None) -> bool:
    """Whether git wrote that it cannot show the change as text (GitLab hands that sentence on)."""
    return bool(patch) and BINARY_PATCH.match(patch) is not None


BINARY_PATCH = re.compile(r"Binary files .* differ\s*\Z|GIT binary patch\n")

VENDORED_FOLDERS = frozenset({"dist", "vendor", "node_modules"})
GENERATED_FOLDERS = frozenset({"__generated__"})  # Relay and other GraphQL compilers

LOCKFILE = re.compile(
    # JavaScript
    r"package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock"
    # Python, conda
    r"|poetry\.lock|pdm\.lock|uv\.lock|pipfile\.lock|pylock(\.[^.]+)?\.toml|pixi\.lock"
    r"|(.+\.)?conda-lock\.ya?ml"
    # Ruby, PHP, Perl, R
    r"|gemfile\.lock|gems\.locked|berksfile\.lock|policyfile\.lock\.json|composer\.lock"
    r"|symfony\.lock|cpanfile\.snapshot|renv\.lock|packrat\.lock"
    # Rust, Go, C and C++, D, Nim, Crystal
    r"|cargo\.lock|go(\.work)?\.sum|gopkg\.lock|glide\.lock|conan\.lock|dub\.selections\.json"
    r"|nimble\.lock|shard\.lock"
    # JVM, .NET
    r"|(buildscript-)?gradle\.lockfile|maven_install\.json|packages\.lock\.json|paket\.lock"
    # Swift, Dart, Elixir, Erlang, Haskell, OCaml, Julia, Gleam, Lua
    r"|podfile\.lock|package\.resolved|cartfile\.resolved|pubspec\.lock|mix\.lock|rebar\.lock"
    r"|stack\.yaml\.lock|cabal\.project\.freeze|.+\.opam\.locked|(julia)?manifest(-v\d+\.\d+)?\.toml"
    r"|luarocks\.lock|lazy-lock\.json"
    # Infrastructure and build
    r"|flake\.lock|devenv\.lock|devbox\.lock|mise\.lock|\.terraform\.lock\.hcl|chart\.lock"
    r"|module\.bazel\.lock|buf\.lock|dvc\.lock|foundry\.lock|scarb\.lock|move\.lock",
    re.IGNORECASE,
)

MINIFIED = re.compile(r"[.-]min\.(js|mjs|cjs|css)$|\.min\.(html?|json|svg)$|\.map$", re.IGNORECASE)

GENERATED = re.compile(
    # Protocol buffers and gRPC
    r"\.pb(\.gw|\.validate)?\.(go|cc|h|swift|dart|ts|rs)$|_pb2(_grpc)?\.pyi?$|_pb\.(js|d\.ts|ts)$"
    r"|_pb\.rb$|\.pb(enum|json|server|grpc)\.dart$|\.pbobjc\.[hm]$|\.grpc\.swift$"
    # Go, Dart, .NET
    r"|^zz_generated\..+\.go$|[._]gen(erated)?\.go$|\.(g|gr|freezed|mocks)\.dart$"
    r"|\.(g|g\.i|designer)\.(cs|vb)$"
    # Anything that says so
    r"|\.generated\.[a-z0-9]+$|\.gen\.(ts|tsx|js|rs)$"
    # Yarn's loaders
    r"|^\.pnp\.c?js$|^\.pnp\.loader\.mjs$",
    re.IGNORECASE,
)
