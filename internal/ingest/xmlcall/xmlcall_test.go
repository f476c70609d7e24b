package xmlcall_test

import (
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest/xmlcall"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, before, want string }{
		{"no call", "no call", ""},
		{"I look.\n<function=bash>\n<parameter=command>\nls -l\n\n</parameter>\n</function> after", "I look.", `bash{"command":"ls -l\n"}`},
		{"<function=a><parameter=x>1</parameter><parameter=y> 2 </parameter></function><function=b></function>", "", `a{"x":"1","y":" 2 "} b{}`},
		{"<function=a>\r\n<parameter=x>\r\nif a < b > c:\r\n</parameter>", "", `a{"x":"if a < b > c:"}`},
		{"<function=a><parameter=x>cut", "", `a{"x":"cut"}`},
		{"<function=a><parameter=x>1</function><function=b>", "", `a{"x":"1"} b{}`},
		{"<function=a><parameter=x", "", `a{}`},
		{"<function= and <function=b></function>", "<function= and", `b{}`},
		{"<function=never", "<function=never", ""},
	} {
		before, calls := xmlcall.Parse(tt.text)
		var got []string
		for _, c := range calls {
			got = append(got, c.Name+string(c.Args.Append(nil)))
		}
		if text := strings.Join(got, " "); before != tt.before || text != tt.want {
			t.Errorf("%q: %q, %s, want %q, %s", tt.text, before, text, tt.before, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("x<function=a><parameter=b>c</parameter></function>")
	f.Fuzz(func(t *testing.T, text string) {
		before, calls := xmlcall.Parse(text)
		if len(calls) == 0 && before != text {
			t.Errorf("%q lost its text", text)
		}
		if len(calls) > strings.Count(text, "<function=") {
			t.Errorf("%q has %d calls", text, len(calls))
		}
	})
}
