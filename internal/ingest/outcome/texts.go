package outcome

import (
	"regexp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

var (
	// listed is a line of a Markdown list that links an instance to its log.
	listed = regexp.MustCompile(`^- \[([^\]]+)\]\(`)

	// result is the last line the evaluation of an instance logs.
	result = regexp.MustCompile(`(?m)^Result for (\S+): resolved: (True|False)\s*$`)
)

// ReadText reads a report of an OpenHands evaluation that is written for people: the
// summary in Markdown, or the log of one instance. A log that ends without a result says
// nothing.
func ReadText(rec format.Record) []format.Item {
	if strings.HasSuffix(rec.File, ".md") {
		return readMarkdown(string(rec.Data))
	}
	return readLog(string(rec.Data))
}

func readMarkdown(text string) []format.Item {
	lists := map[string]*idList{}
	for _, heading := range [...]string{"Resolved", "Error", "Empty Patch", "Unresolved", "Incomplete"} {
		lists["## "+heading+" Instances"] = new(idList)
	}
	var into *idList
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		if strings.HasPrefix(line, "#") {
			into = lists[line]
		} else if m := listed.FindStringSubmatch(line); m != nil && into != nil {
			*into = append(*into, m[1])
		}
	}
	list := func(heading string) idList { return *lists["## "+heading+" Instances"] }
	return claims("swebench_eval.md", []claim{
		{list("Resolved"), trajectory.Pass, ""},
		{list("Error"), trajectory.Unknown, HarnessError},
		{list("Empty Patch"), trajectory.Fail, EmptyPatch},
		{list("Unresolved"), trajectory.Fail, ""},
		{list("Incomplete"), trajectory.Unknown, Incomplete},
	})
}

func readLog(text string) []format.Item {
	found := result.FindAllStringSubmatch(text, -1)
	if found == nil {
		return nil
	}
	last := found[len(found)-1]
	e := format.Evidence{Key: last[1], Rank: format.RankReport, Outcome: trajectory.Fail, Source: "swebench_eval.logs"}
	switch {
	case last[2] == "True":
		e.Outcome = trajectory.Pass
	case strings.Contains(text, "'patch_is_None': True"):
		e.Detail = EmptyPatch
	case strings.Contains(text, "'patch_successfully_applied': False"):
		e.Detail = PatchFailed
	}
	return one(e)
}
