package outcome_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
)

func TestReadText(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{"output.swebench_eval.md", "# SWE-bench Report\n- resolved instances: 1\n\n## Resolved Instances\r\n- [a__a-1](x.log)\r\n\n## Unresolved Instances\n- [a__a-2](x.log)\n- [a__a-3](x.log)\n" +
			"## Error Instances\n- [a__a-4](x)\n## Empty Patch Instances\n- [a__a-3](x.log)\n## Incomplete Instances\n- [a__a-5](x)\n## Other\n- [a__a-6](x)\n",
			"a__a-1 pass ; a__a-2 fail ; a__a-3 fail empty_patch; a__a-4 unknown harness_error; a__a-5 unknown incomplete"},
		{"o.swebench_eval.md", "# nothing", ""},
		{"o.swebench_eval.logs/instance_a__a-1.log", "x\nResult for a__a-1: resolved: False\nagain\nResult for a__a-1: resolved: True\n", "a__a-1 pass "},
		{"o.swebench_eval.logs/i.log", "report: {'patch_is_None': False, 'patch_successfully_applied': False}\nResult for a__a-1: resolved: False", "a__a-1 fail patch_failed"},
		{"o.swebench_eval.logs/i.log", "report: {'patch_is_None': True}\nResult for a__a-1: resolved: False\r\n", "a__a-1 fail empty_patch"},
		{"o.swebench_eval.logs/i.log", "Evaluation still running\nsaid: Result for a__a-1: resolved: True", ""},
	} {
		var got []string
		for _, item := range outcome.ReadText(format.Record{File: tt.file, Data: []byte(tt.text)}) {
			e := item.Evidence
			got = append(got, fmt.Sprintf("%s %s %s", e.Key, e.Outcome, e.Detail))
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s %q:\n got %s\nwant %s", tt.file, tt.text, text, tt.want)
		}
	}
}
