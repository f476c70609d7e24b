package bench_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/privacy/privacytest"
)

// TestNothingPrivateInADataset plants secrets, home directories and names in logs and looks
// for them in every file of what is built.
func TestNothingPrivateInADataset(t *testing.T) {
	dir := t.TempDir()
	privacytest.Plant(t, filepath.Join(dir, "logs"))
	opt := options(filepath.Join(dir, "bench"), filepath.Join(dir, "logs"))
	opt.Observations = bench.ObservationsFull
	res, err := bench.Build(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if res.Trajectories != 2 || res.States < 5 || res.Refused != 2 {
		t.Fatalf("%+v", res)
	}
	if files := privacytest.Find(t, opt.Out); files < 10 {
		t.Errorf("%d files", files)
	}
	for _, kind := range []string{"home_path", "user_name", "host_name", "anthropic_key", "aws_key_id", "github_token"} {
		if !strings.Contains(privacytest.Texts(t, filepath.Join(opt.Out, bench.ManifestName)), `"`+kind+`": `) {
			t.Errorf("%s is not counted in the manifest: %v", kind, res.Privacy)
		}
	}

	opt.Out, opt.Ingest.KeepPaths = filepath.Join(dir, "kept"), true
	if res, err = bench.Build(context.Background(), opt); err != nil {
		t.Fatal(err)
	}
	db := privacytest.Texts(t, filepath.Join(opt.Out, "agentlens.db"))
	if !strings.Contains(db, "/home/alice.smith/work") || !strings.Contains(db, "carol") || strings.Contains(db, privacytest.Key[:20]) || strings.Contains(db, "box-seven") {
		t.Errorf("with kept paths: %v", res.Privacy)
	}
}
