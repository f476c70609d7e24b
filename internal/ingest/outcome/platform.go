package outcome

import "strings"

// BrokenOff reports whether the error of a run names a class of the platform's own
// failures, so that it says nothing about the agent.
func BrokenOff(text string) bool {
	for _, class := range [...]string{
		"AgentRuntimeError", "AgentRuntimeBuildError", "AgentRuntimeTimeoutError", "AgentRuntimeUnavailableError",
		"AgentRuntimeNotReadyError", "AgentRuntimeDisconnectedError", "AgentRuntimeNotFoundError", "ConnectionError",
	} {
		if strings.Contains(text, class) {
			return true
		}
	}
	return false
}
