package release

import (
	"path"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// ID is the format's id.
const ID = "agentlens-release"

// Formats lists the JSON records of the release.
func Formats() []format.Format {
	return []format.Format{
		{
			ID:          ID,
			Description: "AgentLens release: a trajectory as a linear automaton, or a merged reference",
			Detect: func(p *format.Probe) (string, bool) {
				return "states + transitions", p.Get("states").Kind() == '{' && p.Get("transitions").Kind() == '['
			},
			Read: func(rec format.Record) ([]format.Item, error) {
				if source, _ := rec.Probe.Get("metadata").Get("source").Text(); source == "merger" {
					return readReference(rec)
				}
				return readTrajectory(rec)
			},
		},
		{
			ID:          "agentlens-report",
			Description: "AgentLens release: analysis report of one trajectory",
			Companion:   true,
			Skip:        "analysis report of the release",
			Detect: func(p *format.Probe) (string, bool) {
				return "quality_signals + key_metrics", p.Has("quality_signals", "key_metrics")
			},
		},
		{
			ID:          "agentlens-summary",
			Description: "AgentLens release: dataset summary, curation table, Croissant description",
			Companion:   true,
			Skip:        "summary file of the release",
			Detect: func(p *format.Probe) (string, bool) {
				switch {
				case p.Has("dataset_name", "tier_distribution"):
					return "dataset_name + tier_distribution", true
				case p.Has("@context", "@type"):
					return "@context + @type", true
				}
				return "[].ideal_pct", p.Root.First().Has("strategy", "ideal_pct")
			},
		},
	}
}

// folders are the release's own, with what their files are named like.
var folders = map[string]func(rest []string) bool{
	"trajectories": func(rest []string) bool { return len(rest) == 2 && strings.HasSuffix(rest[1], "_pta.json") },
	"ground_truth": func(rest []string) bool { return len(rest) == 1 && strings.HasSuffix(rest[0], "_merged_pta.json") },
	"annotations": func(rest []string) bool {
		return len(rest) == 1 && (rest[0] == "trajectories.csv" || rest[0] == "tasks.csv")
	},
}

// Path returns the place of a release file inside the release, such as
// trajectories/<task>/<id>_pta.json, whatever folders stand before; other paths are
// returned as they are. A folder, an archive of it and an archive of a folder above thus
// give the same places.
func Path(file string) string {
	parts := strings.Split(file, "/")
	for i, part := range parts {
		if fits := folders[part]; fits != nil && fits(parts[i+1:]) {
			return path.Join(parts[i:]...)
		}
	}
	return file
}
