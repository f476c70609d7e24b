package bench_test

import (
	"archive/tar"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/internal/store"
)

func options(out string, sources ...string) bench.Options {
	return bench.Options{
		Sources: sources, Out: out, Reference: profile.LeaveOneOut, K: 5,
		Observations: bench.ObservationsPreview,
	}
}

func build(t testing.TB, opt bench.Options) bench.Result {
	t.Helper()
	res, err := bench.Build(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func sums(t testing.TB, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, bench.ChecksumsName))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func releaseArchive(t testing.TB) string {
	return conformance.Release(t)
}

// TestRelease builds the whole release: counts, the published table, verification, and the
// same bytes for another worker count, with no run kept in memory, and another order of files.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the release three times, and -short is set")
	}
	archive := releaseArchive(t)
	dir := t.TempDir()
	one := options(filepath.Join(dir, "one"), archive)
	one.Jobs = 1
	res := build(t, one)
	want := bench.Counts{Tasks: 47, Models: 8, Trajectories: 1815, States: 53203, Labelled: 51388, Pass: 1136, Fail: 679}
	got := res.Counts
	got.Scored = nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("counts are %+v, want %+v", got, want)
	}
	for _, p := range registry.Names() {
		if res.Scored[p] != 1815 {
			t.Errorf("profile %s scored %d runs, want 1815", p, res.Scored[p])
		}
	}
	if res.Refused != 0 || len(res.Warnings) != 0 {
		t.Errorf("refused %d, warnings %v; want none", res.Refused, res.Warnings)
	}
	v, err := bench.Verify(context.Background(), one.Out, bench.VerifyOptions{})
	if err != nil || !v.OK {
		t.Errorf("verify: %v %v", err, v.Problems)
	}
	comparePublished(t, one.Out, archive)

	eight := options(filepath.Join(dir, "eight"), archive)
	eight.Jobs, eight.CacheBytes = 8, -1
	build(t, eight)
	if sums(t, one.Out) != sums(t, eight.Out) {
		t.Error("8 workers that read every run anew give other bytes than 1 that keeps them")
	}
	shuffled := filepath.Join(dir, "shuffled.tar")
	shuffle(t, archive, shuffled)
	other := options(filepath.Join(dir, "shuffled"), shuffled)
	build(t, other)
	if sums(t, one.Out) != sums(t, other.Out) {
		t.Error("another order of files gives other bytes")
	}
}

// comparePublished checks the table published against the release's CSV, field by field.
func comparePublished(t *testing.T, dir, archive string) {
	t.Helper()
	var want [][]string
	for name, r := range conformance.Files(t, archive) {
		if strings.HasSuffix(name, "annotations/trajectories.csv") {
			var err error
			if want, err = csv.NewReader(r).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(want) != 1816 || len(want[0]) != 40 {
		t.Fatalf("the release's table has %d rows", len(want))
	}
	got := query(t, dir, "SELECT "+strings.Join(want[0], ", ")+" FROM published")
	differs := 0
	for _, row := range want[1:] {
		for i, cell := range row {
			if !sameCell(cell, got[row[2]][i]) {
				differs++
				t.Logf("%s %s: %q, want %q", row[2], want[0][i], got[row[2]][i], cell)
			}
		}
	}
	if differs > 0 || len(got) != 1815 {
		t.Errorf("%d rows, %d cells of published differ from the release", len(got), differs)
	}
}

// TestDonorDraws builds with the donors of both draws and compares the 40 columns with the
// oracle.
func TestDonorDraws(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the release twice, and -short is set")
	}
	archive := releaseArchive(t)
	donors := table(t, conformance.Dir(t, "oracle", "donors.tsv"))
	metrics := table(t, conformance.Dir(t, "oracle", "metrics.tsv"))
	for _, draw := range []string{"A", "B"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "donors.tsv")
		lines := []string{"task\torder\ttrajectory_id"}
		for _, d := range donors[1:] {
			if d[0] == draw {
				lines = append(lines, strings.Join(d[1:], "\t"))
			}
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		opt := options(filepath.Join(dir, "bench"), archive)
		opt.Profiles, opt.Reference, opt.Donors = []profile.Profile{release.New()}, profile.Donors, file
		if res := build(t, opt); res.Scored["release"] != 1513 {
			t.Errorf("draw %s: %d runs scored, want 1513", draw, res.Scored["release"])
		}
		columns := metrics[0][1:41]
		got := query(t, opt.Out, "SELECT "+strings.Join(columns, ", ")+" FROM features_release")
		rows, differs := 0, 0
		for _, want := range metrics[1:] {
			if want[0] != draw {
				continue
			}
			rows++
			for i, cell := range want[1:41] {
				ours := got[want[3]][i]
				switch name := columns[i]; {
				case name == "failure_reasons" || name == "strengths":
					if (cell == "") != (ours == "") {
						differs++
					}
				case !sameCell(cell, ours) && !(name == "temporal_profile_score" && near(cell, ours)):
					differs++
					t.Logf("draw %s %s %s: %q, want %q", draw, want[3], name, ours, cell)
				}
			}
		}
		if rows != 1513 || len(got) != 1513 || differs > 0 {
			t.Errorf("draw %s: %d rows against %d, %d cells differ", draw, len(got), rows, differs)
		}
	}
}

func near(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-12
}

// sameCell compares a cell of the release's files with ours: numbers as numbers, booleans
// in either spelling.
func sameCell(want, got string) bool {
	switch want {
	case "True":
		want = "1"
	case "False":
		want = "0"
	}
	if want == got {
		return true
	}
	x, err1 := strconv.ParseFloat(want, 64)
	y, err2 := strconv.ParseFloat(got, 64)
	return err1 == nil && err2 == nil && x == y
}

// query returns the rows as text by trajectory_id, which is the third column.
func query(t *testing.T, dir, sql string) map[string][]string {
	t.Helper()
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for rows.Next() {
		cells, into := make([]any, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		text := make([]string, len(names))
		for i, c := range cells {
			switch c := c.(type) {
			case nil:
			case float64:
				text[i] = strconv.FormatFloat(c, 'g', -1, 64)
			default:
				text[i] = fmt.Sprint(c)
			}
		}
		out[text[2]] = text
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func table(t *testing.T, path string) [][]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(b)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// shuffle writes the archive's files to a plain tar in another order.
func shuffle(t *testing.T, archive, out string) {
	t.Helper()
	type file struct {
		name string
		data []byte
	}
	var files []file
	for name, r := range conformance.Files(t, archive) {
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{name, data})
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	if slices.IsSortedFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) }) {
		t.Fatal("the files are still in order")
	}
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := tar.NewWriter(f)
	for _, x := range files {
		if err := w.WriteHeader(&tar.Header{Name: x.name, Size: int64(len(x.data)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(x.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
