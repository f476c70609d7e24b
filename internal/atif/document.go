package atif

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Version is the version that is written.
const Version = "ATIF-v1.7"

// Document is one trajectory.
type Document struct {
	SchemaVersion string         `json:"schema_version"`
	SessionID     string         `json:"session_id,omitzero"`
	Agent         Agent          `json:"agent"`
	Steps         []Step         `json:"steps"` // at least one
	Notes         string         `json:"notes,omitzero"`
	FinalMetrics  *FinalMetrics  `json:"final_metrics,omitzero"`
	Extra         jsontext.Value `json:"extra,omitzero"`
}

// Agent is who ran.
type Agent struct {
	Name      string         `json:"name"`
	Version   string         `json:"version"`
	ModelName string         `json:"model_name,omitzero"`
	Extra     jsontext.Value `json:"extra,omitzero"`
}

// Sources of a step.
const (
	SourceSystem = "system"
	SourceUser   = "user"
	SourceAgent  = "agent"
)

// Step is a message, or a response of the model with its calls and their results.
type Step struct {
	StepID      int64          `json:"step_id"` // 1-based position
	Timestamp   string         `json:"timestamp,omitzero"`
	Source      string         `json:"source"`
	Message     string         `json:"message"`
	ModelName   string         `json:"model_name,omitzero"`
	ToolCalls   []ToolCall     `json:"tool_calls,omitempty"`
	Observation *Observation   `json:"observation,omitzero"`
	Metrics     *Metrics       `json:"metrics,omitzero"`
	Extra       jsontext.Value `json:"extra,omitzero"`
}

// ToolCall is a call. Arguments is a JSON object.
type ToolCall struct {
	ToolCallID   string         `json:"tool_call_id"`
	FunctionName string         `json:"function_name"`
	Arguments    jsontext.Value `json:"arguments"`
	Extra        jsontext.Value `json:"extra,omitzero"`
}

// Observation is what the calls of a step gave back.
type Observation struct {
	Results []Result `json:"results"`
}

// Result is what one call gave back.
type Result struct {
	SourceCallID string         `json:"source_call_id,omitzero"`
	Content      string         `json:"content"`
	Extra        jsontext.Value `json:"extra,omitzero"`
}

// Metrics are tokens of one step; nil is unknown.
type Metrics struct {
	PromptTokens     *int64 `json:"prompt_tokens,omitzero"` // with the cached ones
	CompletionTokens *int64 `json:"completion_tokens,omitzero"`
	CachedTokens     *int64 `json:"cached_tokens,omitzero"`
}

// FinalMetrics are tokens of all steps; nil is unknown.
type FinalMetrics struct {
	TotalPromptTokens     *int64 `json:"total_prompt_tokens,omitzero"`
	TotalCompletionTokens *int64 `json:"total_completion_tokens,omitzero"`
	TotalCachedTokens     *int64 `json:"total_cached_tokens,omitzero"`
	TotalSteps            int64  `json:"total_steps"`
}

// Append writes the document behind b, indented by two spaces.
func (d *Document) Append(b []byte) ([]byte, error) {
	out, err := json.Marshal(d, json.Deterministic(true), jsontext.WithIndent("  "),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		return b, err
	}
	return append(append(b, out...), '\n'), nil
}
