package codex

import "testing"

func TestPatchOf(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a.py\n*** End Patch"
	for _, words := range [][]string{
		{"apply_patch", patch}, {"applypatch", patch}, {"bash", "-lc", "apply_patch <<'EOF'\n" + patch + "\nEOF"},
		{"cd src && apply_patch <<EOF\n" + patch + "\nEOF"}, {"zsh", "-c", "apply_patch '" + patch + "'"},
	} {
		if got, _, ok := patchOf(words); !ok || got != patch {
			t.Errorf("%q: %q", words, got)
		}
	}
	if _, _, ok := patchOf([]string{"bash", "-lc", "cat apply_patch"}); ok {
		t.Error("a command that applies nothing")
	}
}

func TestCodeCalls(t *testing.T) {
	calls := codeCalls("const p = \"*** Begin\\nx\";\nconst r = await tools.exec_command({cmd: 'ls \\'a\\'', \"n\": 5});\ntext(await tools.apply_patch(p)); tools.view(x + 1)")
	if len(calls) != 3 || calls[0].Args.Text("cmd") != "ls 'a'" || calls[0].Args.Int("n").Or(0) != 5 || calls[1].Args.Text("input") != "*** Begin\nx" || calls[2].RawArgs == "" {
		t.Errorf("%+v", calls)
	}
}

func TestEnvelope(t *testing.T) {
	if isEnvelope(`{"output":"two","rows":[1]}`) || !isEnvelope(`{"output":"a","metadata":{"exit_code":0}}`) {
		t.Error("envelope")
	}
}
