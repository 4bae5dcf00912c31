-- Build description for a Kit repository that holds this extension.
--
-- It could not be run here: it needs NVIDIA's build tools (repo_build), which are not part of this repository.
-- A test (tests/kit/test_extension_folder.py) checks that every path it names exists.
-- Nothing has to be built to use the extension: Kit loads the clone as it is.

local ext = get_current_extension_info()

-- config/ is linked by project_ext itself
project_ext(ext)

repo_build.prebuild_link {
    { "data", ext.target_dir.."/data" },
    { "docs", ext.target_dir.."/docs" },
    { "python", ext.target_dir.."/python" },
}

repo_build.prebuild_copy {
    { "LICENSE", ext.target_dir },
}
