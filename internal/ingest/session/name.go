package session

import (
	"path"
	"regexp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Name is what the path of a file says about the run in it.
type Name struct {
	Task    string // "" when the path says nothing
	Model   string
	Outcome trajectory.Outcome
}

var (
	// convention is the name of a run in the AgentLens release.
	convention = regexp.MustCompile(`^(.+?)-logs-(.+)-(pass|fail)-\d+$`)

	// numbered is a folder or file that counts runs of one task.
	numbered = regexp.MustCompile(`(?i)^(run|attempt|try|trial|rep|sample|seed|iter|iteration)?[-_]?\d+$`)

	// instance is a SWE-bench instance id.
	instance = regexp.MustCompile(`^(.+?)__(.+)-[0-9A-Za-z.]+$`)

	// repeated is an instance id with the number of a run behind it.
	repeated = regexp.MustCompile(`^(.+?__.+-\d+)_\d+$`)

	// experiment is the name of a SWE-agent experiment, which the settings of the model end.
	experiment = regexp.MustCompile(`^(.+?)__(?:.*__)?t-\d`)

	// smith is an instance of SWE-smith: owner__repo.commit.mutation.
	smith = regexp.MustCompile(`^([^./]+?)__([^/]+?)\.[0-9a-f]{8}\.`)
)

// NameFile reads the task and the model of a run off its path: the release's convention
// <task>-logs-<model>-<pass|fail>-<number> in any part, else folders such as
// <model>/<task>/<task>.traj.json.
func NameFile(file string) Name {
	parts := strings.Split(strings.Trim(path.Clean(file), "/"), "/")
	for i := range parts {
		parts[i] = Stem(parts[i])
	}
	for i := len(parts) - 1; i >= 0; i-- {
		if m := convention.FindStringSubmatch(strings.TrimSuffix(parts[i], "_pta")); m != nil {
			n := Name{Task: m[1], Model: m[2], Outcome: trajectory.Fail}
			if m[3] == "pass" {
				n.Outcome = trajectory.Pass
			}
			return n
		}
	}
	var telling []string
	for _, part := range parts {
		if !isGeneric(part) && (len(telling) == 0 || telling[len(telling)-1] != part) {
			telling = append(telling, part)
		}
	}
	if len(telling) == 0 {
		return Name{}
	}
	at := len(telling) - 1
	for i, part := range telling {
		if instance.MatchString(part) && !experiment.MatchString(part) {
			at = i
		}
	}
	n := Name{Task: telling[at]}
	if at > 0 {
		n.Model = telling[at-1]
		if m := experiment.FindStringSubmatch(n.Model); m != nil {
			n.Model = m[1]
		}
	}
	return n
}

// IsInstance reports whether a name has the form of a SWE-bench instance id.
func IsInstance(name string) bool { return instance.MatchString(name) }

// Instance drops the number that some datasets put behind an instance id.
func Instance(id string) string {
	if m := repeated.FindStringSubmatch(id); m != nil {
		return m[1]
	}
	return id
}

// Evidence returns the item that a path with an outcome in its name gives.
func (n Name) Evidence(id string) []format.Item {
	if n.Outcome == trajectory.Unknown {
		return nil
	}
	return []format.Item{{Evidence: &format.Evidence{Key: id, Rank: format.RankFileName, Outcome: n.Outcome, Source: "file name"}}}
}

// Stem removes the extensions of logs and archives from a name.
func Stem(name string) string {
	for {
		ext := path.Ext(name)
		switch strings.ToLower(ext) {
		case ".json", ".jsonl", ".ndjson", ".traj", ".gz", ".zst", ".zip", ".tar", ".tgz", ".log", ".txt", ".parquet":
			name = strings.TrimSuffix(name, ext)
		default:
			return name
		}
	}
}

// isGeneric reports whether a folder or file name says nothing about task or model.
func isGeneric(name string) bool {
	switch strings.ToLower(name) {
	case "", ".", "..", "trajectory", "trajectories", "traj", "trajs", "output", "outputs", "events", "history", "log",
		"logs", "results", "runs", "data", "session", "sessions", "projects", "agent", "messages", "rollout", "demonstrations":
		return true
	}
	return numbered.MatchString(name)
}

// Repository returns owner/name of an instance id such as psf__requests-1724, "" for any
// other id.
func Repository(task string) string {
	if m := smith.FindStringSubmatch(task); m != nil {
		return m[1] + "/" + m[2]
	}
	if m := instance.FindStringSubmatch(task); m != nil {
		return m[1] + "/" + m[2]
	}
	return ""
}

// plain makes a model's name fit for an id.
func plain(model string) string {
	if model == "" {
		return "unknown"
	}
	return strings.ReplaceAll(model, "/", "__")
}

// ExitStatus returns the first line of a status or an error.
func ExitStatus(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return Cut(strings.TrimRight(line, "\r"), maxExitStatus)
}

// Cut returns the first n code points of a text.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// Between returns what stands between two marks, the whole text when they are not there.
func Between(text, from, to string) string {
	if _, rest, ok := strings.Cut(text, from); ok {
		if inside, _, ok := strings.Cut(rest, to); ok {
			return strings.TrimSpace(inside)
		}
	}
	return text
}
