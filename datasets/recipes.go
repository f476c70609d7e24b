package datasets

import (
	"embed"
	"io/fs"
)

//go:embed agentlens-bench/recipe.toml agentlens-bench/files.tsv
var recipes embed.FS

// Recipes returns a folder for each dataset that can be fetched, named as the dataset:
// recipe.toml says where it is, files.tsv what it holds. Package fetch reads them.
func Recipes() fs.FS { return recipes }
