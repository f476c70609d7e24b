package lenientjson

// Usage is what an answer of the chat completions API cost, in tokens.
type Usage struct {
	Prompt     Int `json:"prompt_tokens"`
	Completion Int `json:"completion_tokens"`
	Details    Of[struct {
		Cached Int `json:"cached_tokens"`
	}] `json:"prompt_tokens_details"`
}
