"""The extension folder as Kit and its build tools read it: manifest, pictures, build files, namespaces."""

import hashlib
import io
import re
import struct
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from fakes.extension_loader import BUNDLED_VERSION
from start_in_kit import STARTED, started, started_with_nodes

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "isaacsim.core.experimental.actuators"
# what an install, a build or a test leaves in a clone
IGNORED = [line for line in (ROOT / ".gitignore").read_text("utf-8").split() if line.endswith("/")]
# section order and keys of the manifest that Kit repositories validate
SECTIONS = ["package", "core", "dependencies", "python", "fswatcher", "settings", "native", "test", "documentation"]
PACKAGE_KEYS = {
    *("version", "title", "description", "category", "keywords", "authors", "repository", "changelog", "readme"),
    *("preview_image", "icon", "support_level", "python", "writeTarget", "target", "toggleable", "feature"),
}
CHANGELOG_HEADINGS = {"Added", "Changed", "Fixed", "Removed", "Deprecated", "Security"}
APACHE_2_0_SHA256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


@pytest.fixture(scope="module")
def manifest() -> dict:
    return _read_toml("config/extension.toml")


def test_sections_are_known_and_in_order(manifest):
    assert list(manifest) == [section for section in SECTIONS if section in manifest]


def test_package_keys_are_known(manifest):
    """Name no key that Kit would silently ignore."""
    assert set(manifest["package"]) <= PACKAGE_KEYS


@pytest.mark.parametrize("key", ["version", "title", "description", "category", "keywords", "authors"])
def test_package_says_who_it_is(manifest, key):
    value = manifest["package"][key]
    assert value and all(part.strip() for part in ([value] if isinstance(value, str) else value))


def test_description_disclaims_affiliation(manifest):
    assert "not affiliated with NVIDIA" in manifest["package"]["description"].replace("Not", "not")


def test_version_is_the_same_everywhere(manifest):
    versions = {"manifest": manifest["package"]["version"], "changelog": _changelog_entries()[0][0]}
    for source in (_package_folder() / "base").glob("*.py"):
        if found := re.search(r'^__version__\s*(?::[^=]+)?=\s*"([^"]+)"', source.read_text("utf-8"), re.MULTILINE):
            versions[source.name] = found.group(1)
    assert "version.py" in versions and set(versions.values()) == {versions["manifest"]}, versions


def test_distribution_takes_its_version_from_the_package():
    settings = _read_toml("pyproject.toml")
    assert settings["project"]["dynamic"] == ["version"] and "version" not in settings["project"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": f"{PACKAGE}.base.version.__version__"}


def test_version_is_above_the_bundled_one(manifest):
    """Stay above the bundled extension of the same name, which Kit would take otherwise."""
    ours, bundled = (tuple(map(int, text.split("."))) for text in (manifest["package"]["version"], BUNDLED_VERSION))
    assert ours > bundled


@pytest.mark.parametrize("key", ["changelog", "readme", "preview_image", "icon"])
def test_package_files_exist(manifest, key):
    assert (ROOT / manifest["package"][key]).is_file()


def test_documentation_pages_exist(manifest):
    pages = manifest["documentation"]["pages"]
    assert pages and [page for page in pages if not (ROOT / page).is_file()] == []


def test_python_modules_resolve(manifest):
    """Find the package under the import root that the manifest gives; it alone, since each entry point found starts."""
    modules = manifest["python"]["module"]
    assert [module["name"] for module in modules] == [PACKAGE]
    for module in modules:
        assert (ROOT / module["path"]).joinpath(*module["name"].split("."), "__init__.py").is_file()


def test_plain_kit_can_load_it(manifest):
    """Require what the package cannot do without and every Kit has, omni.graph so that OmniGraph looks for the node."""
    required = {name for name, options in manifest["dependencies"].items() if options.get("optional") is not True}
    assert required == {"omni.graph", "omni.usd", "omni.warp.core"}


def test_start_in_a_clone_imports_nothing_heavy(manifest):
    said = started(ROOT)
    print(f"{said['modules']} modules in {said['seconds'] * 1e3:.1f} ms")
    nodes = ["extension.action_graphs", "extension.action_graphs.nodes", "extension.action_graphs.nodes.registration"]
    assert said["ours"] == sorted([*STARTED, *nodes]) and said["others"] == []
    assert (said["entry points"], said["left"]) == (1, [])
    runs = f"{PACKAGE} {manifest['package']['version']} runs, from {ROOT}."
    assert said["log"][0].startswith(f"{runs} {BUNDLED_VERSION} does not, from /kit/exts/")


def test_node_of_a_clone_is_registered_by_hand():
    """Register before the extension counts as enabled, with the icon, for OmniGraph finds nothing; take all back."""
    said = started_with_nodes(ROOT, ROOT / "python")
    icon = _package_folder() / "extension" / "action_graphs" / "nodes" / "icons" / "articulation_actuators.svg"
    assert said["nodes"] == {f"{PACKAGE}.ArticulationActuators": str(icon)} and icon.is_file()
    assert (said["subscriptions"], said["left"]) == (1, [])
    assert "extension.action_graphs.nodes.registration" in said["ours"]


def test_kit_installs_nothing(manifest):
    """Use Kit's own USD, Warp and Newton instead of installing second copies."""
    assert "pipapi" not in manifest["python"]


def test_generated_node_databases_are_not_watched(manifest):
    patterns = manifest["fswatcher"]["patterns"]
    assert "*.ogn" in patterns["include"] and "Ogn*Database.py" in patterns["exclude"]


@pytest.mark.parametrize("folder", IGNORED)
def test_what_git_ignores_reloads_nothing(manifest, folder):
    folder = folder.replace("*", "some")
    for place in (f"{folder}module.py", f"{folder}lib/python3.11/site-packages/isaacsim/core/module.py"):
        assert _is_excluded(manifest, place), place


def test_own_files_are_watched(manifest):
    there = [*(ROOT / "config").glob("*.toml"), *_package_folder().rglob("*.py"), *_package_folder().rglob("*.ogn")]
    own = [path.relative_to(ROOT).as_posix() for path in there if "__pycache__" not in path.parts]
    assert len(own) > 50 and [path for path in own if _is_excluded(manifest, path)] == []


def test_every_pattern_is_needed(manifest):
    ignored = [f"{line.replace('*', 'some')}module.py" for line in IGNORED] + [".git/hooks/module.py"]
    for pattern in manifest["fswatcher"]["paths"]["exclude"]:
        assert any(fnmatch(f"/home/me/{PACKAGE}/{path}", pattern) for path in ignored), pattern


def test_changelog_keeps_its_form():
    entries = _changelog_entries()
    assert entries == sorted(entries, key=lambda entry: [int(part) for part in entry[0].split(".")], reverse=True)
    assert [date for _, date in entries] == sorted((date for _, date in entries), reverse=True)
    headings = re.findall(r"^### (?!Upgrading from \d+\.\d+$)(.+)$", _read_text("docs/CHANGELOG.md"), re.MULTILINE)
    assert headings and set(headings) <= CHANGELOG_HEADINGS


def test_licence_is_verbatim():
    # line endings are the checkout's business
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes().replace(b"\r\n", b"\n")).hexdigest() == APACHE_2_0_SHA256


def test_icon_has_the_size_kit_shows(manifest):
    assert _png_size(manifest["package"]["icon"]) == (256, 256)


def test_preview_is_a_wide_picture(manifest):
    width, height = _png_size(manifest["package"]["preview_image"])
    assert width >= 800 and 1.5 <= width / height <= 2.0


@pytest.mark.parametrize("name", ["icon", "preview"])
def test_pictures_are_what_their_sources_say(name):
    pytest.importorskip("resvg_py", reason="what draws SVG is not installed: extra ci")
    import draw_icon
    from matplotlib.image import imread

    drawn, there = (imread(picture) for picture in (io.BytesIO(draw_icon.drawn(name)), draw_icon.DATA / f"{name}.png"))
    assert drawn.shape == there.shape
    assert abs(drawn - there).max() < 0.02, "run ./python.sh tools/draw_icon.py"


# build files for NVIDIA's tools, which cannot run here


def test_premake_names_only_paths_that_exist():
    assert _missing(premake_paths(_read_text("premake5.lua"))) == []


def test_repo_settings_name_only_paths_that_exist():
    assert _missing(repo_paths(_read_text("repo.toml"))) == []


@pytest.mark.parametrize("name", ["premake5.lua", "repo.toml"])
def test_build_file_says_that_it_was_not_run(name):
    assert "could not be run here" in _read_text(name)[:500]


def test_premake_links_everything_the_manifest_names(manifest):
    named = [manifest["package"][key] for key in ("changelog", "readme", "preview_image", "icon")]
    named += [module["path"] for module in manifest["python"]["module"]]
    assert {Path(path).parts[0] for path in named} <= set(premake_paths(_read_text("premake5.lua")))


def test_premake_has_nodes_at_the_import_path():
    code = re.sub(r"--.*", "", _read_text("premake5.lua"))
    names = dict(re.findall(r'^local (\w+) = "(.*)"$', code, re.MULTILINE))
    assert re.findall(r"get_ogn_project_information\(ext, (\w+)\)", code) == ["import_path"]
    assert names["import_path"] == PACKAGE.replace(".", "/")
    assert re.findall(r'(\w+), ext\.target_dir\.\."/"\.\.import_path', code) == ["folder", "file"]


def test_premake_reader_takes_sources_and_leaves_targets():
    script = """
    -- "comment"
    repo_build.prebuild_link { { "data", ext.target_dir.."/data" }, { 'docs', ext.target_dir .. '/docs' } }
    """
    assert premake_paths(script) == ["data", "docs"]


def test_repo_reader_takes_every_string_but_names():
    text = """
    [repo]
    name = "x"
    import_configs = ["${root}/_repo/deps/repo.toml", "${root}/tools/repo.toml"]
    [a.b]
    files = [["docs/*", "c"]]
    """
    assert repo_paths(text) == ["tools/repo.toml", "docs/*", "c"]


@pytest.mark.parametrize("reader", ["premake", "repo"])
def test_readers_refuse_a_file_without_paths(reader):
    """Fail when nothing was found, so that a changed syntax is noticed."""
    with pytest.raises(AssertionError, match="no path"):
        premake_paths("project_ext(ext)") if reader == "premake" else repo_paths('[repo]\nname = "x"')


def test_missing_paths_are_seen():
    assert _missing(["data", "dota", "docs/*.md", "docs/*.mdx"]) == ["dota", "docs/*.mdx"]


@pytest.mark.parametrize("folder", ["isaacsim", "isaacsim/core", "isaacsim/core/experimental"])
def test_shared_namespaces_stay_open(folder):
    place = ROOT / "python" / folder
    assert place.is_dir() and not (place / "__init__.py").exists()


def premake_paths(script: str) -> list[str]:
    code = re.sub(r"--.*", "", script)
    literals = re.finditer(r"""(?P<joined>\.\.\s*)?(?P<quote>["'])(?P<text>.*?)(?P=quote)""", code)
    paths = [literal["text"] for literal in literals if not literal["joined"]]
    assert paths, "premake script: no path found"
    return paths


def repo_paths(text: str) -> list[str]:
    """Return every string of the repo settings, names and fetched files aside, relative to the repository."""
    strings = [value for key, value in _strings(tomllib.loads(text)) if key not in ("name", "project")]
    paths = [string.removeprefix("${root}/") for string in strings]
    paths = [path for path in paths if not path.startswith("_repo/")]
    assert paths, "repo settings: no path found"
    return paths


def _strings(value, key: str = ""):
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, key)


def _is_excluded(manifest: dict, path: str) -> bool:
    """Whether Kit's watcher leaves out a file of a clone."""
    return any(fnmatch(f"/home/me/{PACKAGE}/{path}", one) for one in manifest["fswatcher"]["paths"]["exclude"])


def _missing(paths: list[str]) -> list[str]:
    return [path for path in paths if not any(ROOT.glob(path)) and not any((ROOT / "python").glob(path))]


def _changelog_entries() -> list[tuple[str, str]]:
    text = _read_text("docs/CHANGELOG.md")
    entries = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", text, re.MULTILINE)
    assert entries, "docs/CHANGELOG.md: no entry '## [x.y.z] - YYYY-MM-DD'"
    return entries


def _package_folder() -> Path:
    return (ROOT / "python").joinpath(*PACKAGE.split("."))


def _png_size(path: str) -> tuple[int, int]:
    head = (ROOT / path).read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR", f"{path}: not a PNG file"
    return struct.unpack(">II", head[16:24])


def _read_text(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def _read_toml(path: str) -> dict:
    return tomllib.loads(_read_text(path))
