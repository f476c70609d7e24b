package main

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentlens-bench/agentlens/internal/fetch"
	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"agentlens": main})
}

// TestScripts runs every command as a user does; see testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(cachedir.Variable, filepath.Join(env.WorkDir, ".cache"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mkarchive": mkarchive,
			"mkline":    mkline,
			"replace":   replace,
			"exitcode":  exitcode,
		},
	})
}

func TestNoteFetchSaysWhereFilesCameFrom(t *testing.T) {
	for want, c := range map[string]struct {
		res  fetch.Result
		from string
	}{
		"3 files, 9 bytes, all verified: 2 fetched, 1 in the cache before\n":          {fetch.Result{Files: 3, Bytes: 9, DownloadedFiles: 2, FromCache: 1}, ""},
		"3 files, 9 bytes, all verified: 3 files from x.zip, 0 in the cache before\n": {fetch.Result{Files: 3, Bytes: 9, TakenFiles: 3}, "x.zip"},
	} {
		var b strings.Builder
		if noteFetch(&b, c.res, c.from); b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}
