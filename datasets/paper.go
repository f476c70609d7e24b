package datasets

import _ "embed"

//go:embed paper/figures.tsv
var paperFigures string

// PaperFigures returns the figures the paper prints, one line each after a header, as
// paper/README.md describes. Package paper recomputes them.
func PaperFigures() string { return paperFigures }
