package privacy_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/privacy/privacytest"
)

// TestEveryKindInEveryEncoding plants each kind in each spelling in a string of a record: it
// is gone, the record is JSON, what stands around it too, and a second look finds nothing.
func TestEveryKindInEveryEncoding(t *testing.T) {
	for _, p := range privacytest.Privates() {
		for _, e := range privacytest.Encodings {
			for _, around := range []string{`{"id":"a__b-1","x":["before ` + "%" + `\n","c"]}`, `{"content":"` + "%" + `"}`, `{"a":"x\n\n` + "%" + `\ttail","b":"next"}`} {
				text := bytes.Replace([]byte(around), []byte("%"), []byte(e.Write(p)), 1)
				out, counts := privacy.Options{}.Scrub(text)
				if len(privacytest.Hidden(string(out), []privacytest.Private{p})) > 0 {
					t.Errorf("%s, %s: %s became %s", p.Kind, e.Name, text, out)
				}
				if half := p.Needle[len(p.Needle)/2:]; e.Name == "split" && p.Split && len(half) >= 8 && bytes.Contains(out, []byte(half)) {
					t.Errorf("%s, %s: %s became %s", p.Kind, e.Name, text, out)
				}
				if !json.Valid(text) || !json.Valid(out) {
					t.Errorf("%s, %s: no JSON: %s became %s", p.Kind, e.Name, text, out)
				}
				if counts[privacy.Kind(p.Kind)] == 0 && p.Kind != "header_secret" {
					t.Errorf("%s, %s: counted %v: %s", p.Kind, e.Name, counts, out)
				}
				if again, more := (privacy.Options{}).Scrub(out); !bytes.Equal(again, out) {
					t.Errorf("%s, %s: again %v: %s became %s", p.Kind, e.Name, more, out, again)
				}
			}
		}
	}
}
