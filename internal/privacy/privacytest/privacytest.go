// Package privacytest plants secrets, home directories and names in logs, and looks for them in
// what was made of the logs. It is for tests.
package privacytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// planted are texts that no dataset may hold.
var planted = []string{
	"alice.smith", "carol", "box-seven", "ghp_" + Key[:36], "sk-ant-api03-" + Key, "AKIA" + "QWERTYUIOPASDFGH", Key[:20],
}

// Key is a part of every planted secret.
const Key = "Zk3Zk4Zk5Zk6Zk7Zk8Zk9Zk0ZkaZkbZkcZkdZkeZkfZkgZkhZkiZkjZkk"

// logsWith returns a log in two formats whose every text holds what was planted. The text is
// padded so that a preview would cut the last secret in half.
func logsWith(t testing.TB) (openhands, mini string) {
	private := strings.Repeat("-", 380) + " at /home/alice.smith/work carol@box-seven C:\\Users\\alice.smith\\x AKIAQWERTYUIOPASDFGH sk-ant-api03-" + Key + " ghp_" + Key[:36]
	quote := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	p := quote(private)
	coded := ""
	for i, v := range Privates() {
		coded += ` ; ` + Encodings[i%len(Encodings)].Write(v)
	}
	p = p[:len(p)-1] + coded + `"`
	openhands = fmt.Sprintf(`{"instance_id":"a__b-1","instruction":%[1]s,"error":%[1]s,"history":[`+
		`{"id":0,"source":"user","action":"message","args":{"content":%[1]s}},`+
		`{"id":1,"source":"agent","action":"run","args":{"command":%[1]s,"thought":%[1]s}},`+
		`{"id":2,"source":"agent","cause":1,"observation":"run","content":%[1]s,"extras":{"metadata":{"exit_code":0,"username":"carol","hostname":"box-seven"}}},`+
		`{"id":3,"source":"agent","action":"edit","args":{"command":"create","path":"/home/alice.smith/x.py","file_text":%[1]s}},`+
		`{"id":4,"source":"agent","cause":3,"observation":"edit","content":%[1]s,"extras":{}}],`+
		`"metadata":{"llm_config":{"model":"m"}},"test_result":{"report":{"resolved":true}}}`, p)
	mini = fmt.Sprintf(`{"trajectory_format":"mini-swe-agent-1","instance_id":"a__b-1","info":{"exit_status":%[1]s,"submission":%[1]s,"config":{"environment":{"env":{"USER":"carol","HOSTNAME":"box-seven"}}}},"messages":[`+
		`{"role":"system","content":"s"},{"role":"user","content":%[1]s},`+
		`{"role":"assistant","content":%[2]s},{"role":"user","content":%[3]s}]}`,
		p, quote("THOUGHT: "+private+"\n```bash\ncat "+private+"\n```"), quote("<returncode>1</returncode>\n<output>\n" + private + "\n")[:len(quote("<returncode>1</returncode>\n<output>\n"+private+"\n"))-1]+coded+`\n</output>"`)
	return openhands, mini
}

// Texts returns the content of a file as text; a Parquet file's values, one a line.
func Texts(t testing.TB, file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(file) != ".parquet" {
		return string(data)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out strings.Builder
	r := parquet.NewReader(f)
	defer r.Close()
	rows := make([]parquet.Row, 16)
	for {
		n, err := r.ReadRows(rows)
		for _, row := range rows[:n] {
			for _, v := range row {
				out.WriteString(v.String() + "\n")
			}
		}
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Plant writes logs into the folder dir: two runs, a record that can't be read and one that
// comes twice.
func Plant(t testing.TB, dir string) {
	t.Helper()
	openhands, mini := logsWith(t)
	logs := filepath.Join(dir, "home", "alice.smith")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"output.jsonl":  openhands + "\n" + strings.Replace(openhands, `"history":[`, `"history":[}`, 1) + "\n" + openhands + "\n",
		"run.traj.json": mini,
	} {
		if err := os.WriteFile(filepath.Join(logs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Find fails the test for every planted text in a file below dir. It returns the number of
// files it looked into.
func Find(t testing.TB, dir string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		FindIn(t, file, Texts(t, file))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// FindIn fails the test for every planted text in a text; where names it.
func FindIn(t testing.TB, where, text string) {
	t.Helper()
	for _, p := range Hidden(text, Privates()) {
		t.Errorf("%s has %s: %s", where, p.Kind, p.Text)
	}
	for _, p := range planted {
		if at := strings.Index(text, p); at >= 0 {
			t.Errorf("%s has %q: %q", where, p, text[max(0, at-60):min(len(text), at+60)])
		}
	}
}
