"""DiffExclusionPolicy: which files are left out, by which of their paths, for which reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pullstate.domain.diff_exclusion import (
    MAX_PATCH_BYTES,
    DiffExclusionPolicy,
    ExcludedPath,
    Exclusion,
    Reason,
    flagged,
)
from pullstate.domain.merge_request import FileDiff

PATCHES = (
    "Binary files /dev/null and b/logo.png differ",
    "@@ -0,0 +1 @@\n+" + "x" * MAX_PATCH_BYTES,
)


def changed(path: str, old_path: str | None = None, **facts: object) -> FileDiff:
    status = "renamed" if old_path else "modified"
    return FileDiff(path, old_path, status, additions=1, deletions=0, **facts)


def decided(file: FileDiff, policy: DiffExclusionPolicy | None = None) -> list[tuple[str, str]]:
    exclusion = (policy or DiffExclusionPolicy()).decide(file)
    return [(entry.path, str(entry.reason)) for entry in exclusion.paths] if exclusion else []


def reason(path: str, **facts: object) -> str | None:
    entries = decided(changed(path, **facts))
    return entries[0][1] if entries else None


@pytest.mark.parametrize(
    "path",
    [
        "package-lock.json", "web/package-lock.json", "npm-shrinkwrap.json", "yarn.lock",
        "apps/a/b/pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock", "poetry.lock", "pdm.lock",
        "uv.lock", "Pipfile.lock", "pylock.toml", "pylock.dev.toml", "pixi.lock", "conda-lock.yml",
        "env.conda-lock.yml", "Gemfile.lock", "gems.locked", "composer.lock", "symfony.lock",
        "cpanfile.snapshot", "renv.lock", "Cargo.lock", "go.sum", "sub/go.work.sum", "Gopkg.lock",
        "conan.lock", "dub.selections.json", "shard.lock", "gradle.lockfile",
        "buildscript-gradle.lockfile", "packages.lock.json", "paket.lock", "Podfile.lock",
        "ios/App.xcworkspace/xcshareddata/swiftpm/Package.resolved", "Cartfile.resolved",
        "pubspec.lock", "mix.lock", "rebar.lock", "stack.yaml.lock", "cabal.project.freeze",
        "app.opam.locked", "Manifest.toml", "Manifest-v1.11.toml", "JuliaManifest.toml",
        "flake.lock", ".terraform.lock.hcl", "infra/prod/.terraform.lock.hcl", "Chart.lock",
        "MODULE.bazel.lock", "maven_install.json", "buf.lock", "GEMFILE.LOCK",
    ],
)  # fmt: skip
def test_a_lockfile_of_any_ecosystem_is_left_out_wherever_it_lies(path: str) -> None:
    assert reason(path) == "generated/lockfile"


@pytest.mark.parametrize(
    "path",
    [
        "package.json", "go.mod", "Cargo.toml", "pyproject.toml", "Gemfile", "Podfile", "flake.nix",
        "src/lock.go", "src/yarn.lock.ts", "my-package-lock.json", "package-lock.json/readme.md",
        "docs/uv.lock.md", "door.lock", "Package.swift", "main.tf", "conda.yml", "pylock.md",
    ],
)  # fmt: skip
def test_a_name_that_only_resembles_a_lockfile_is_shown(path: str) -> None:
    assert reason(path) is None


@pytest.mark.parametrize(
    "path",
    ["app.min.js", "static/app.min.css", "a/app.min.mjs", "app-min.js", "app.js.map",
     "css/a.css.map", "APP.MIN.JS", "types.d.ts.map", "index.min.html"],
)  # fmt: skip
def test_minified_code_and_source_maps_are_left_out(path: str) -> None:
    assert reason(path) == "generated/minified"


@pytest.mark.parametrize(
    "path", ["admin.js", "min.js", "src/map.ts", "minify.css", "app.minimal.js", "a.mapping"]
)
def test_a_name_that_only_resembles_minified_code_is_shown(path: str) -> None:
    assert reason(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "api/v1/a.pb.go", "a.pb.gw.go", "a_grpc.pb.go", "a_pb2.py", "a_pb2.pyi", "a_pb2_grpc.py",
        "a_pb.js", "a_pb.d.ts", "a.pb.cc", "a.pb.h", "A.pb.swift", "A.pbobjc.m", "user.g.dart",
        "user.freezed.dart", "Form.Designer.cs", "View.g.cs", "zz_generated.deepcopy.go",
        "models_gen.go", "schema.generated.ts", "routeTree.gen.ts", ".pnp.cjs", ".pnp.loader.mjs",
        "src/__generated__/Query.graphql.ts",
    ],
)  # fmt: skip
def test_a_name_that_only_generators_give_is_left_out(path: str) -> None:
    assert reason(path) == "generated"


@pytest.mark.parametrize(
    "path",
    ["generated.go", "gen.go", "generator.ts", "a.proto", "pb.go", "a_pb3.py", "designer.cs",
     "src/generated/api.ts", "notgenerated.ts", "g.dart", "oxygen.go", "hydrogen.ts"],
)  # fmt: skip
def test_a_name_that_only_resembles_a_generated_one_is_shown(path: str) -> None:
    assert reason(path) is None


@pytest.mark.parametrize(
    "path",
    ["dist/app.js", "web/dist/app.js", "vendor/a/b.go", "go/vendor/modules.txt",
     "node_modules/x/index.js", "a/node_modules/x/y/z.js", "dist/a/b/c/d"],
)  # fmt: skip
def test_a_path_under_dist_vendor_or_node_modules_is_vendored_at_any_depth(path: str) -> None:
    assert reason(path) == "vendored"


@pytest.mark.parametrize(
    "path",
    ["dist", "a/vendor", "distribution/a.js", "vendored/a.go", "src/vendor.js", "my-dist/a.js",
     "node_modules_old/a.js", "Dist/a.js", "dist.js", "src/distance/x.py"],
)  # fmt: skip
def test_a_folder_with_another_name_is_not_vendored(path: str) -> None:
    assert reason(path) is None


@pytest.mark.parametrize(
    ("path", "facts", "expected"),
    [
        ("vendor/x/package-lock.json", {}, "vendored"),
        ("dist/app.min.js", {}, "vendored"),
        ("dist/logo.png", {"binary": True}, "vendored"),
        ("go.sum", {"too_large": True}, "generated/lockfile"),
        ("a.min.js", {"generated": True}, "generated/minified"),
        ("bun.lockb", {"binary": True}, "generated/lockfile"),
        ("a.bin", {"generated": True, "binary": True}, "generated"),
        ("a.bin", {"binary": True, "too_large": True}, "binary"),
        ("a.sql", {"too_large": True}, "too_large"),
        ("a.sql", {"generated": True}, "generated"),
    ],
)
def test_the_first_reason_in_reading_order_is_the_one_given(
    path: str, facts: dict[str, bool], expected: str
) -> None:
    everything = DiffExclusionPolicy(matches=lambda path: True)
    assert decided(changed(path, **facts), everything) == [(path, expected)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("dist/a.js", "src/a.js", [("dist/a.js", "vendored")]),
        ("src/a.js", "dist/a.js", [("dist/a.js", "vendored")]),
        ("dist/a.js", "vendor/a.js", [("dist/a.js", "vendored"), ("vendor/a.js", "vendored")]),
        ("yarn.lock", "dist/x", [("yarn.lock", "generated/lockfile"), ("dist/x", "vendored")]),
        ("old.lock", "new.lock", []),
        ("a.min.js", "a.js", [("a.min.js", "generated/minified")]),
        ("src/a.js", "src/b.js", []),
    ],
)
def test_a_rename_names_each_of_its_paths_that_matches(
    old: str, new: str, expected: list[tuple[str, str]]
) -> None:
    assert decided(changed(new, old)) == expected


def test_what_the_forge_says_of_a_file_is_about_its_present_path() -> None:
    assert decided(changed("b.bin", "a.bin", binary=True)) == [("b.bin", "binary")]
    assert decided(changed("b.bin", "dist/a.bin", binary=True)) == [
        ("dist/a.bin", "vendored"),
        ("b.bin", "binary"),
    ]


def test_a_file_that_kept_its_path_is_named_once() -> None:
    assert decided(changed("dist/a.js", "dist/a.js")) == [("dist/a.js", "vendored")]


@pytest.mark.parametrize("old", [None, ""])
def test_an_added_file_has_no_old_path_to_match(old: str | None) -> None:
    everything = DiffExclusionPolicy(matches=lambda path: True)
    assert decided(changed("a", old), everything) == [("a", "excluded by policy")]


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("Binary files a/logo.png and b/logo.png differ\n", "binary"),
        ("Binary files /dev/null and b/logo.png differ", "binary"),
        ("GIT binary patch\nliteral 12\n", "binary"),
        ("@@ -0,0 +1 @@\n+Binary files a/x and b/x differ\n", None),
        ("@@ -0,0 +1 @@\n+" + "x" * MAX_PATCH_BYTES, "too_large"),
        ("é" * (MAX_PATCH_BYTES // 2) + "x", "too_large"),
        ("é" * (MAX_PATCH_BYTES // 2), None),
        ("\ud800", None),
        ("", None),
        (None, None),
    ],
)
def test_a_patch_shows_that_a_file_is_binary_or_too_large(
    patch: str | None, expected: str | None
) -> None:
    assert reason("data", patch=patch) == expected


@pytest.mark.parametrize("patch", [*PATCHES, None, "@@ -1 +1 @@\n-a\n+b\n"])
@pytest.mark.parametrize(
    "facts", [{}, {"generated": True}, {"binary": True}, {"too_large": True}], ids=str
)
def test_the_flags_decide_alike_without_the_patch(
    patch: str | None, facts: dict[str, bool]
) -> None:
    file = changed("data", patch=patch, **facts)
    bare = replace(flagged(file), patch=None)
    assert decided(bare) == decided(file)
    assert replace(bare, binary=file.binary, too_large=file.too_large, patch=patch) == file


def test_the_projects_patterns_come_last_and_see_both_paths() -> None:
    policy = DiffExclusionPolicy(matches=lambda path: path.startswith("docs/"))
    assert decided(changed("src/a.md", "docs/a.md"), policy) == [
        ("docs/a.md", "excluded by policy")
    ]
    assert decided(changed("docs/yarn.lock"), policy) == [("docs/yarn.lock", "generated/lockfile")]
    assert decided(changed("src/a.md"), policy) == []


def test_an_exclusion_is_equal_to_another_with_the_same_entries() -> None:
    expected = Exclusion((ExcludedPath("go.sum", Reason.LOCKFILE),))
    assert DiffExclusionPolicy().decide(changed("go.sum")) == expected
