package datasets

import _ "embed"

// The sample's parameters: agentlens synth with these flags writes the same records.
const (
	SampleTasks  = 6
	SampleModels = 6
	SampleRuns   = 4
	SampleSeed   = 4
)

// SampleName is the sample's name as a source. Its ending says how to read it.
const SampleName = "sample.tar.gz"

//go:embed sample/sample.tar.gz
var sample string

// Sample returns the embedded sample: a gzip-compressed tar archive of OpenHands evaluation
// logs, <model>/run-<nn>/output.jsonl, written by agentlens synth. All of it is synthetic.
func Sample() string { return sample }
