package equiv_test

import (
	"bufio"
	"math"
	"os"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type syntheticState struct {
	Tool        string  `json:"tool_used"`
	Observation string  `json:"observation"`
	Result      string  `json:"resulting_state"`
	Hash        string  `json:"content_hash"`
	Description string  `json:"content_description"`
	FilePath    string  `json:"file_path"`
	Scope       string  `json:"scope_path"`
	Function    string  `json:"function_name"`
	Class       string  `json:"class_name"`
	Stage       string  `json:"intent_stage"`
	Lines       []int64 `json:"line_range"`
	Initial     bool    `json:"is_initial"`
	Log         *struct {
		Kind string         `json:"kind"`
		Tool string         `json:"tool"`
		Args jsontext.Value `json:"args"`
	} `json:"log_entry"`
}

func (s syntheticState) state(t *testing.T) *trajectory.State {
	stage, err := trajectory.ParseStage(s.Stage)
	if err != nil {
		t.Fatal(err)
	}
	out := &trajectory.State{
		Tool: s.Tool, Observation: s.Observation, ResultingState: s.Result, ContentHash: s.Hash,
		ContentDescription: s.Description, FilePath: s.FilePath, ScopePath: s.Scope, FunctionName: s.Function,
		ClassName: s.Class, Stage: stage, Initial: s.Initial,
	}
	if len(s.Lines) == 2 {
		out.Lines = trajectory.LineRange{Start: s.Lines[0], End: s.Lines[1], Valid: true}
	}
	if s.Log != nil {
		var a struct {
			FilePath  string `json:"filePath"`
			Path      string `json:"path"`
			Command   string `json:"command"`
			Query     string `json:"query"`
			StartLine int64  `json:"startLine"`
			EndLine   int64  `json:"endLine"`
			Start     int64  `json:"start_line"`
			End       int64  `json:"end_line"`
		}
		if err := json.Unmarshal(s.Log.Args, &a); err != nil {
			t.Fatal(err)
		}
		args := trajectory.Args{
			Raw: string(s.Log.Args), FilePath: a.FilePath, Path: a.Path, Command: a.Command, Query: a.Query,
			StartLine: a.StartLine, EndLine: a.EndLine,
		}
		if args.StartLine == 0 {
			args.StartLine = a.Start
		}
		if args.EndLine == 0 {
			args.EndLine = a.End
		}
		out.Log = &trajectory.LogEntry{Kind: s.Log.Kind, Tool: s.Log.Tool, Args: args}
	}
	return out
}

func TestOracleSyntheticPairs(t *testing.T) {
	f, err := os.Open(conformance.Dir(t, "oracle", "equivalence_synth.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var pair struct {
			A          syntheticState `json:"a"`
			B          syntheticState `json:"b"`
			Equivalent int            `json:"equivalent"`
			Confidence float64        `json:"confidence"`
			Method     equiv.Method   `json:"method"`
		}
		if err := json.Unmarshal(lines.Bytes(), &pair); err != nil {
			t.Fatal(err)
		}
		n++
		a, b := equiv.NewReleaseStep(pair.A.state(t)), equiv.NewReleaseStep(pair.B.state(t))
		got := a.Compare(&b, 1)
		want := equiv.Verdict{Equivalent: pair.Equivalent == 1, Confidence: pair.Confidence, Method: pair.Method}
		if got != want && math.Abs(got.Confidence-want.Confidence) < 1e-9 && got.Method == want.Method {
			t.Errorf("confidence differs in its last bits: %v %v", got, want)
		}
		if got != want {
			t.Errorf("got %v, want %v\n%s", got, want, lines.Bytes())
		}
	}
	if lines.Err() != nil || n != 1800 {
		t.Fatalf("%d pairs, error %v", n, lines.Err())
	}
}
