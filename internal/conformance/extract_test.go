package conformance

import (
	"archive/tar"
	"bytes"
	"encoding/csv"
	"flag"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"
)

var update = flag.Bool("update", false, "rewrite testdata/extract from the shared folder")

// extractTasks are the tasks of the extract. The first has three passing runs, too few for a
// donor draw; the third mostly fails; the others mostly pass, ten of the last only luckily.
var extractTasks = []string{
	"astropy__astropy-13236", "pallets__flask-5014", "psf__requests-2931", "sphinx-doc__sphinx-10323",
}

// maxExtract is the most bytes the extract may add to the repository.
const maxExtract = 2_000_000

func TestExtractIsSmallAndNamesItsSource(t *testing.T) {
	dir := Extract(t).dir
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size > maxExtract {
		t.Errorf("%d bytes, want at most %d", size, maxExtract)
	}
	text, err := os.ReadFile(filepath.Join(dir, "ATTRIBUTION.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append([]string{"AgentLens-Bench 1.0", "arXiv:2605.12925", "creativecommons.org/licenses/by/4.0", "Changes"}, extractTasks...) {
		if !strings.Contains(string(text), want) {
			t.Errorf("ATTRIBUTION.md does not say %s", want)
		}
	}
	licence := false
	for name := range Files(t, Extract(t).Release()) {
		licence = licence || name == "agentlens-bench/LICENSE"
	}
	if !licence {
		t.Error("the archive has no LICENSE")
	}
}

// The extract is what the whole says of its tasks, nothing else.
func TestExtractIsPartOfTheWhole(t *testing.T) {
	whole, ours := Whole(t), Extract(t)
	archive, commands := extractRelease(t, whole)
	want := map[string][]byte{}
	for _, name := range []string{"donors.tsv", "labels.tsv", "equivalence.tsv", "metrics.tsv"} {
		want[name] = filterLines(whole.Read(t, "oracle", name), true, rowOfTask)
	}
	for _, name := range []string{"pta.jsonl", "paths.jsonl", "details.jsonl"} {
		want[name] = filterLines(whole.Read(t, "oracle", name), false, lineOfTask)
	}
	want["lucky_categories.csv"] = filterLines(whole.Read(t, "oracle", "lucky_categories.csv"), true, rowOfTask)
	for _, name := range []string{
		"baselines.tsv", "clean_labels.tsv", "equivalence_strict_t.tsv", "paper_draws.tsv", "paper_scores.tsv", "process_halves.tsv",
		"process_scores.tsv", "states_3tasks.tsv",
	} {
		want["profiles/"+name] = filterLines(whole.Read(t, "oracle", "profiles", name), true, rowOfTask)
	}
	want["profiles/pta_3tasks.jsonl"] = filterLines(whole.Read(t, "oracle", "profiles", "pta_3tasks.jsonl"), false, lineOfTask)
	for _, name := range []string{"commands.jsonl", "profiles/commands_clean.jsonl"} {
		want[name] = filterLines(whole.Read(t, "oracle", name), false, func(line string) bool {
			var c struct {
				Command string `json:"command"`
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			return commands[c.Command]
		})
	}
	if *update {
		writeExtract(t, ours.dir, archive, want)
	}
	for name, data := range want {
		if got := ours.Read(t, "oracle", name); !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes differ from the %d of the shared folder; -update writes them anew", name, len(got), len(data))
		}
	}
	seen := 0
	for name, r := range Files(t, ours.Release()) {
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if seen++; !bytes.Equal(data, archive[name]) {
			t.Errorf("%s differs from the release; -update writes it anew", name)
		}
	}
	if seen != len(archive) {
		t.Errorf("the archive has %d files, want %d", seen, len(archive))
	}
}

// filterLines keeps the lines that f accepts, and the first one if it is a header.
func filterLines(data []byte, header bool, f func(string) bool) []byte {
	var out []byte
	for line := range strings.Lines(string(data)) {
		if header || f(line) {
			out = append(out, line...)
		}
		header = false
	}
	return out
}

// rowOfTask accepts rows about a run of the tasks, of draw A where rows name a draw.
func rowOfTask(line string) bool {
	return !strings.HasPrefix(line, "B\t") && slices.ContainsFunc(extractTasks, func(task string) bool {
		return strings.Contains(line, task+"-logs-")
	})
}

func lineOfTask(line string) bool {
	var v struct {
		Draw string `json:"draw"`
		Task string `json:"task"`
	}
	return json.Unmarshal([]byte(line), &v) == nil && v.Draw != "B" && slices.Contains(extractTasks, v.Task)
}

// extractRelease returns the release's files about the tasks and the commands of their runs.
func extractRelease(t *testing.T, whole *Set) (files map[string][]byte, commands map[string]bool) {
	t.Helper()
	files, commands = map[string][]byte{}, map[string]bool{}
	for name, r := range Files(t, whole.Release()) {
		dir, file := path.Split(name)
		task := path.Base(dir)
		kept := slices.Contains(extractTasks, task) || slices.Contains(extractTasks, strings.TrimSuffix(file, "_merged_pta.json"))
		table := file == "trajectories.csv" || file == "tasks.csv"
		if !kept && !table && file != "LICENSE" {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if table {
			data = filterTable(t, data)
		}
		files[name] = data
		if strings.Contains(dir, "/trajectories/") {
			collectCommands(t, data, commands)
		}
	}
	return files, commands
}

func filterTable(t *testing.T, data []byte) []byte {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for i, row := range records {
		if i == 0 || slices.Contains(extractTasks, row[0]) {
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Flush()
	return out.Bytes()
}

func collectCommands(t *testing.T, run []byte, into map[string]bool) {
	t.Helper()
	var file struct {
		States map[string]struct {
			Log *struct {
				Args struct {
					Command jsontext.Value `json:"command"`
				} `json:"args"`
			} `json:"log_entry"`
		} `json:"states"`
	}
	if err := json.Unmarshal(run, &file, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		t.Fatal(err)
	}
	for _, s := range file.States {
		var command string
		if s.Log != nil && s.Log.Args.Command.Kind() == '"' && json.Unmarshal(s.Log.Args.Command, &command) == nil {
			into[command] = true
		}
	}
}

func writeExtract(t *testing.T, dir string, archive, tables map[string][]byte) {
	t.Helper()
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(1<<26))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, pack.EncodeAll(data, nil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range tables {
		write("oracle/"+name+".zst", data)
	}
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(archive)) {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(archive[name])), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(archive[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write("data/agentlens-bench-1.0.tar.zst", packed.Bytes())
}
