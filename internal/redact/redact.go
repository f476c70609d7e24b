// Package redact takes secrets and the names of home folders out of texts of logs.
//
// Invariants:
//
//   - A secret is replaced by [REDACTED:KIND], the name in a home path by user. Nothing else of
//     a text changes.
//   - Redacting twice is redacting once.
//   - JSON stays JSON: replacements need no escapes, and matches end before quotes and
//     backslashes.
package redact

import (
	"regexp"
	"strings"
)

type rule struct {
	kind    string
	hints   []string // one of them is in every match
	pattern *regexp.Regexp
}

var rules = []rule{
	{"private_key", []string{"PRIVATE KEY-----"}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\rn:,.-]*?-----END [A-Z ]*PRIVATE KEY-----`)},
	{"aws_key", []string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"github_token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})`)},
	{"gitlab_token", []string{"glpat-"}, regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"api_key", []string{"sk-"}, regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`)},
	{"huggingface_token", []string{"hf_"}, regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`)},
	{"slack_token", []string{"xox"}, regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{10,}`)},
	{"google_key", []string{"AIza"}, regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}`)},
	{"jwt", []string{"eyJ"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
	{"bearer", []string{"earer "}, regexp.MustCompile(`\b[Bb]earer [A-Za-z0-9._~+/-]{20,}=*`)},
	{"password_in_url", []string{"://"}, regexp.MustCompile(`://[^\s/:@"'\\\[\]]+:[^\s/@"'\\\[\]]+@`)},
}

// home matches the folder of a person. The accounts of containers and build machines name
// nobody.
var (
	home       = regexp.MustCompile(`(/home/|/Users/|[A-Za-z]:(?:\\\\|\\|/)Users(?:\\\\|\\|/))([A-Za-z0-9._-]+)`)
	impersonal = map[string]bool{"user": true, "openhands": true, "runner": true, "ubuntu": true, "vscode": true, "node": true, "agent": true, "swe-agent": true, "Shared": true, "Public": true}
)

// Text redacts a text and returns the number of replacements.
func Text(s string) (string, int) {
	n := 0
	for _, r := range rules {
		if !containsAny(s, r.hints) {
			continue
		}
		s = r.pattern.ReplaceAllStringFunc(s, func(m string) string {
			n++
			if r.kind == "password_in_url" {
				return "://[REDACTED:" + r.kind + "]@"
			}
			return "[REDACTED:" + r.kind + "]"
		})
	}
	if containsAny(s, []string{"/home/", "sers"}) {
		s = home.ReplaceAllStringFunc(s, func(m string) string {
			at := home.FindStringSubmatchIndex(m)
			if impersonal[m[at[4]:at[5]]] {
				return m
			}
			n++
			return m[:at[4]] + "user"
		})
	}
	return s, n
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
