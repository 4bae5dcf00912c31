-- Build description for a Kit repository that holds this extension.
--
-- It could not be run here: it needs NVIDIA's build tools (repo_build), which are not part of this repository.
-- A test (tests/test_extension_folder.py) checks that every path it names exists.
-- Nothing has to be built to use the extension: Kit loads the clone as it is, and ./repo.sh package makes a zip.

local ext = get_current_extension_info()
-- the package by its import path, and the import root that it lies below, as in config/extension.toml
local import_path = "isaacsim/core/experimental/actuators"
local root = "python"
local module = root.."/"..import_path

-- the node's database is generated at the import path below the extension's root, where OmniGraph looks for nodes
local ogn = get_ogn_project_information(ext, import_path)
project_ext_ogn(ext, ogn)

-- config/ is linked by project_ext itself
project_ext(ext, { generate_ext_project = true })
add_ogn_dependencies(ogn, { "python/isaacsim/core/experimental/actuators/extension/action_graphs/nodes" })

-- the package's folder is a real one, so that what is generated stays out of the repository; what is in it is linked
for _, folder in ipairs(os.matchdirs(module.."/*")) do
    repo_build.prebuild_link { { folder, ext.target_dir.."/"..import_path.."/"..path.getname(folder) } }
end
for _, file in ipairs(os.matchfiles(module.."/*.py")) do
    repo_build.prebuild_copy { { file, ext.target_dir.."/"..import_path } }
end
-- the manifest's import root leads to the same folder
repo_build.prebuild_link { { ext.target_dir.."/isaacsim", ext.target_dir.."/"..root.."/isaacsim" } }

repo_build.prebuild_link {
    { "data", ext.target_dir.."/data" },
    { "docs", ext.target_dir.."/docs" },
}

repo_build.prebuild_copy {
    { "LICENSE", ext.target_dir },
    { "ogn/nodes.json", ext.target_dir.."/ogn" },
}
