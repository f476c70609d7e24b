package openhands

import (
	"path"
	"regexp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// fileName is what the path of a file with one run says about the run.
type fileName struct {
	id       string // "" when the path says nothing
	task     string
	model    string
	outcome  trajectory.Outcome
	explicit bool // the path follows the convention that names task, model and outcome
}

var (
	// convention is the name of a run in the AgentLens release.
	convention = regexp.MustCompile(`^(.+?)-logs-(.+)-(pass|fail)-\d+$`)

	// numbered is a folder or file that counts runs of one task.
	numbered = regexp.MustCompile(`(?i)^(run|attempt|try|trial|rep|sample|seed|iter|iteration)?[-_]?\d+$`)

	// instance is a SWE-bench instance id.
	instance = regexp.MustCompile(`^(.+?)__(.+)-[0-9A-Za-z.]+$`)
)

// nameFile reads a run's identity off its path: the convention
// <task>-logs-<model>-<pass|fail>-<number> in any part, else folders such as
// <model>/<task>/run_3/trajectory.json.
func nameFile(file string) fileName {
	parts := strings.Split(strings.Trim(path.Clean(file), "/"), "/")
	for i := range parts {
		parts[i] = stem(parts[i])
	}
	for i := len(parts) - 1; i >= 0; i-- {
		name := strings.TrimSuffix(parts[i], "_pta")
		if m := convention.FindStringSubmatch(name); m != nil {
			n := fileName{id: name, task: m[1], model: m[2], outcome: trajectory.Fail, explicit: true}
			if m[3] == "pass" {
				n.outcome = trajectory.Pass
			}
			return n
		}
	}
	var telling []string
	for _, part := range parts {
		if !isGeneric(part) {
			telling = append(telling, part)
		}
	}
	if len(telling) == 0 {
		return fileName{}
	}
	at := len(telling) - 1
	for i, part := range telling {
		if instance.MatchString(part) {
			at = i
		}
	}
	n := fileName{id: strings.Join(parts, "--"), task: telling[at]}
	switch {
	case at > 0:
		n.model = telling[at-1]
	case len(telling) > 1:
		n.model = telling[1]
	}
	return n
}

// stem removes the extensions of logs and archives from a name.
func stem(name string) string {
	for {
		ext := path.Ext(name)
		switch strings.ToLower(ext) {
		case ".json", ".jsonl", ".gz", ".zst", ".zip", ".tar", ".tgz", ".log", ".txt":
			name = strings.TrimSuffix(name, ext)
		default:
			return name
		}
	}
}

// isGeneric reports whether a folder or file name says nothing about task or model.
func isGeneric(name string) bool {
	switch strings.ToLower(name) {
	case "", ".", "..", "trajectory", "trajectories", "trajectory_openhands", "openhands", "openhands_trajectory",
		"traj", "trajs", "output", "outputs", "events", "history", "log", "logs", "results", "runs", "data", "sessions":
		return true
	}
	return numbered.MatchString(name)
}

// repository returns owner/name of an instance id such as psf__requests-1724, "" for any
// other id.
func repository(task string) string {
	m := instance.FindStringSubmatch(task)
	if m == nil {
		return ""
	}
	return m[1] + "/" + m[2]
}

// plain makes a model's name fit for an id.
func plain(model string) string {
	if model == "" {
		return "unknown"
	}
	return strings.ReplaceAll(model, "/", "__")
}

// describe cuts a task's text to its length in a dataset.
func describe(task string) string { return session.Cut(task, maxTaskRunes) }
