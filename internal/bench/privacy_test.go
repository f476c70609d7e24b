package bench_test

import (
	"context"
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

	"github.com/agentlens-bench/agentlens/internal/bench"
)

// planted are texts that no dataset may hold.
var planted = []string{
	"alice.smith", "carol", "box-seven", "ghp_" + plantedKey[:36], "sk-ant-api03-" + plantedKey, "AKIA" + "QWERTYUIOPASDFGH", plantedKey[:20],
}

const plantedKey = "Zk3Zk4Zk5Zk6Zk7Zk8Zk9Zk0ZkaZkbZkcZkdZkeZkfZkgZkhZkiZkjZkk"

// logWith returns a log in two formats whose every text holds what was planted. The text is
// padded so that a preview would cut the last secret in half.
func logWith(t *testing.T) (openhands, mini string) {
	private := strings.Repeat("-", 380) + " at /home/alice.smith/work carol@box-seven C:\\Users\\alice.smith\\x AKIAQWERTYUIOPASDFGH sk-ant-api03-" + plantedKey + " ghp_" + plantedKey[:36]
	quote := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	p := quote(private)
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
		p, quote("THOUGHT: "+private+"\n```bash\ncat "+private+"\n```"), quote("<returncode>1</returncode>\n<output>\n"+private+"\n</output>"))
	return openhands, mini
}

// texts returns the content of a file of a dataset as text.
func texts(t *testing.T, file string) string {
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

// TestNothingPrivateInADataset plants secrets, home directories and names in logs and looks
// for them in every file of what is built.
func TestNothingPrivateInADataset(t *testing.T) {
	dir := t.TempDir()
	openhands, mini := logWith(t)
	logs := filepath.Join(dir, "logs", "home", "alice.smith")
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
	opt := options(filepath.Join(dir, "bench"), filepath.Join(dir, "logs"))
	opt.Observations = bench.ObservationsFull
	res, err := bench.Build(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if res.Trajectories != 2 || res.States < 5 || res.Refused != 2 {
		t.Fatalf("%+v", res)
	}
	files := 0
	err = filepath.WalkDir(opt.Out, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text := texts(t, file)
		for _, p := range planted {
			if at := strings.Index(text, p); at >= 0 {
				t.Errorf("%s has %q: %q", file, p, text[max(0, at-60):min(len(text), at+60)])
			}
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Fatal(files, err)
	}
	for _, kind := range []string{"home_path", "user_name", "host_name", "anthropic_key", "aws_key_id", "github_token"} {
		if !strings.Contains(texts(t, filepath.Join(opt.Out, bench.ManifestName)), `"`+kind+`": `) {
			t.Errorf("%s is not counted in the manifest: %v", kind, res.Privacy)
		}
	}

	opt.Out, opt.Ingest.KeepPaths = filepath.Join(dir, "kept"), true
	if res, err = bench.Build(context.Background(), opt); err != nil {
		t.Fatal(err)
	}
	db := texts(t, filepath.Join(opt.Out, "agentlens.db"))
	if !strings.Contains(db, "/home/alice.smith/work") || !strings.Contains(db, "carol") || strings.Contains(db, plantedKey[:20]) || strings.Contains(db, "box-seven") {
		t.Errorf("with kept paths: %v", res.Privacy)
	}
}
