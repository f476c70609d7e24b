package privacy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/privacy"
)

func counted(c privacy.Counts) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(c)) {
		out = append(out, fmt.Sprintf("%s %d", k, c[k]))
	}
	return strings.Join(out, ", ")
}

func letters(n int) string { return strings.Repeat("aB3dE5gH", 1+n/8)[:n] }

func TestSecrets(t *testing.T) {
	for kind, secrets := range map[privacy.Kind][]string{
		privacy.OpenAIKey:    {"sk-" + letters(48), "sk-proj-" + letters(60)},
		privacy.AnthropicKey: {"sk-ant-api03-" + letters(80)},
		privacy.GitHubToken:  {"ghp_" + letters(36), "ghs_" + letters(36), "gho_" + letters(36), "github_pat_11" + letters(20) + "_" + letters(50)},
		privacy.GitLabToken:  {"glpat-" + letters(20)},
		privacy.AWSKeyID:     {"AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "IOSFODNN7EXAMPLE"},
		privacy.GoogleKey:    {"AIza" + letters(35)},
		privacy.SlackToken:   {"xoxb-123456789012-" + letters(24)},
		privacy.HuggingFace:  {"hf_" + letters(34)},
		privacy.NPMToken:     {"npm_" + letters(36)},
		privacy.PyPIToken:    {"pypi-AgEIcHlwaS5vcmc" + letters(60)},
		privacy.SendGridKey:  {"SG." + letters(22) + "." + letters(43)},
		privacy.StripeKey:    {"sk_live_" + letters(24), "rk_test_" + letters(24)},
		privacy.DigitalOcean: {"dop_v1_" + letters(64)},
		privacy.JWT:          {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + letters(43)},
	} {
		for _, secret := range secrets {
			for _, around := range []string{"%s", "key=%s\n", "'%s'", "export X=%s;", `{"a":"\n%s\n"}`, "\x1b[31m%s\x1b[0m", `{"a":"{\"b\":\"%s\"}"}`, "http://x/?t=%s&b"} {
				text := fmt.Sprintf(around, secret)
				got, counts := privacy.Options{KeepPaths: true}.Scrub([]byte(text))
				want := fmt.Sprintf(around, "REDACTED_"+strings.ToUpper(string(kind)))
				if string(got) != want || counted(counts) != string(kind)+" 1" {
					t.Errorf("%q: %q, %s; want %q", text, got, counted(counts), want)
				}
			}
		}
	}
}

func TestTexts(t *testing.T) {
	key := strings.Repeat(letters(64)+`\n`, 3)
	for _, c := range []struct{ text, want, counts string }{
		{"cd /home/alice/x && ls /home/alice", "cd /home/user/x && ls /home/user", "home_path 2"},
		{"/Users/alice.b/x", "/Users/user/x", "home_path 1"},
		{`C:\Users\alice\x`, `C:\Users\user\x`, "home_path 1"},
		{`"C:\\Users\\Alice von B\\x\n"`, `"C:\\Users\\user\\x\n"`, "home_path 1"},
		{`"C:\\Users\\alice says\nhello"`, `"C:\\Users\\user says\nhello"`, "home_path 1"},
		{`"{\"p\":\"C:\\\\Users\\\\alice\\\\x\"}"`, `"{\"p\":\"C:\\\\Users\\\\user\\\\x\"}"`, "home_path 1"},
		{`c:/users/alice/x /mnt/c/Users/alice /c/Users/alice`, `c:/users/user/x /mnt/c/Users/user /c/Users/user`, "home_path 3"},
		{`"a\n/home/alice\n/home/jos\u00e9/x"`, `"a\n/home/user\n/home/user/x"`, "home_path 2"},
		{`\/home\/alice\/x`, `\/home\/user\/x`, "home_path 1"},
		{"gcc -I/home/alice/inc --p=/home/alice PATH=/bin:/home/bob/bin file:///home/bob.", "gcc -I/home/user/inc --p=/home/user PATH=/bin:/home/user/bin file:///home/user.", "home_path 4"},
		{"/var/home/alice/x /export/home/alice", "/var/home/user/x /export/home/user", "home_path 2"},
		{"/home/alice alice@box:~$ alice", "/home/user user@host:~$ alice", "home_path 1, host_name 1, user_name 1"},
		{"/root/.claude/projects/-home-alice-my-proj/x -Users-bob-x", "/root/.claude/projects/-home-user-my-proj/x -Users-user-x", "home_path 2"},
		{"/p/__Users__alice_b__work/x /__home__alice-b__x __home__bob__x", "/p/__Users__user__work/x /__home__user__x __home__user__x", "home_path 3"},
		{"/_Users_alice_work/x /_home_alice_my_work", "/_Users_user_work/x /_home_user_my_work", "home_path 2"},
		{`"C--Users-alice-x" /C____Users__alice__x /-mnt-c-Users-alice-x /__mnt__c__Users__alice__x`, `"C--Users-user-x" /C____Users__user__x /-mnt-c-Users-user-x /__mnt__c__Users__user__x`, "home_path 4"},
		{"/-var-home-alice-x /__export__home__alice__x /_data_home_alice_x", "/-var-home-user-x /__export__home__user__x /_data_home_user_x", "home_path 3"},
		{`{"username":"carol","hostname":"box-7","working_dir":"/w"} carol@box-7:/w carolina`, `{"username":"user","hostname":"host","working_dir":"/w"} user@host:/w carolina`, "host_name 2, user_name 2"},
		{`{"hostname": "box-7", "x": 1, "username": "carol"}`, `{"hostname": "host", "x": 1, "username": "user"}`, "host_name 1, user_name 1"},
		{`{"env":{"USER":"carol","HOSTNAME":"box-7"}} drwx carol`, `{"env":{"USER":"user","HOSTNAME":"host"}} drwx user`, "host_name 1, user_name 2"},
		{"aws_secret_access_key = " + letters(40) + "\n", "aws_secret_access_key = REDACTED_AWS_SECRET_KEY\n", "aws_secret_key 1"},
		{`{"SecretAccessKey": "` + letters(40) + `"}`, `{"SecretAccessKey": "REDACTED_AWS_SECRET_KEY"}`, "aws_secret_key 1"},
		{"AWS_SECRET_ACCESS_KEY=" + letters(40), "AWS_SECRET_ACCESS_KEY=REDACTED_AWS_SECRET_KEY", "aws_secret_key 1"},
		{"Authorization: Bearer " + letters(30) + "==", "Authorization: Bearer REDACTED_BEARER_TOKEN", "bearer_token 1"},
		{`"-----BEGIN RSA PRIVATE KEY-----\n` + key + `-----END RSA PRIVATE KEY-----\nrest"`, `"REDACTED_PRIVATE_KEY\nrest"`, "private_key 1"},
		{`"-----BEGIN OPENSSH PRIVATE KEY-----\n` + key + `"`, `"REDACTED_PRIVATE_KEY"`, "private_key 1"},

		// What is no one's, or no path of the machine, stays.
		{"/root/x /home/user /home/ubuntu/a /Users/Shared/x /home/", "/root/x /home/user /home/ubuntu/a /Users/Shared/x /home/", ""},
		{"src/home/views ./home/views ~/home/x $(pwd)/home/x /home/$USER /home/index.html /users/alice", "src/home/views ./home/views ~/home/x $(pwd)/home/x /home/$USER /home/index.html /users/alice", ""},
		{"/my-home-page /test_Users_table x__home__alice__y /_home_page.html /_home_page_header.html /_home_alice _home_dir_path", "/my-home-page /test_Users_table x__home__alice__y /_home_page.html /_home_page_header.html /_home_alice _home_dir_path", ""},
		{`"_home_dir_path" /__home__ /___home__alice__x /__users__table__x /-users-table /_home__alice__x /__home_alice_x /x-var-home-alice`, `"_home_dir_path" /__home__ /___home__alice__x /__users__table__x /-users-table /_home__alice__x /__home_alice_x /x-var-home-alice`, ""},
		{`{"username":"root","hostname":"localhost"} {"username":"dave"}`, `{"username":"root","hostname":"localhost"} {"username":"dave"}`, ""},
		{"disk-usage-of-a-long-name-1234567 sk-xxxxxxxxxxxxxxxxxxxxxxxx task-" + letters(30), "disk-usage-of-a-long-name-1234567 sk-xxxxxxxxxxxxxxxxxxxxxxxx task-" + letters(30), ""},
		{"hf_hub_download_of_a_very_long_function_name ghp_short AKIASHORT xAKIAIOSFODNN7EXAMPLE", "hf_hub_download_of_a_very_long_function_name ghp_short AKIASHORT xAKIAIOSFODNN7EXAMPLE", ""},
		{`grep -r "-----BEGIN RSA PRIVATE KEY-----" .`, `grep -r "-----BEGIN RSA PRIVATE KEY-----" .`, ""},
		{"-----BEGIN CERTIFICATE-----\n" + letters(64), "-----BEGIN CERTIFICATE-----\n" + letters(64), ""},
		{`"\npm_` + letters(36) + `" "\rk_live_` + letters(24) + `" secret_access_key=\u00e9` + letters(35), `"\npm_` + letters(36) + `" "\rk_live_` + letters(24) + `" secret_access_key=\u00e9` + letters(35), ""},
		{"the bearer of-a-very-long-message-without-digits", "the bearer of-a-very-long-message-without-digits", ""},
		{`GET /Users/42/orders HTTP/1.1`, `GET /Users/42/orders HTTP/1.1`, ""},
		{`<a href="/home/dashboard"> app.get('/home/settings') curl http://localhost:3000/home/x`, `<a href="/home/dashboard"> app.get('/home/settings') curl http://localhost:3000/home/x`, ""},
		{"postgres://{user}:{pass}@host https://user:password@example.com http://localhost:80/a@b", "postgres://{user}:{pass}@host https://user:password@example.com http://localhost:80/a@b", ""},
		{"password = os.environ[\"X\"]\ntoken: str\npassword='testpass1'\napi_key=config.API_KEY2\ntoken_count: 12", "password = os.environ[\"X\"]\ntoken: str\npassword='testpass1'\napi_key=config.API_KEY2\ntoken_count: 12", ""},
		{"Basic usage of a Bearer token; API_KEY=<your-key> OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxx1 use ls -l here", "Basic usage of a Bearer token; API_KEY=<your-key> OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxx1 use ls -l here", ""},
		{"commit 8ecdd9d5481bd2efbfb071338f7ce8aa3abb330a 3f2a9c1e-77b0-4d5e-9a61-0c2b8e4f7d13 @property a@b.shape pkg@1.2.3", "commit 8ecdd9d5481bd2efbfb071338f7ce8aa3abb330a 3f2a9c1e-77b0-4d5e-9a61-0c2b8e4f7d13 @property a@b.shape pkg@1.2.3", ""},
		{"git@github.com:a/b.git to@example.com noreply@anthropic.com list@lists.python.org", "git@github.com:a/b.git to@example.com noreply@anthropic.com list@lists.python.org", ""},
		{"-rw-r--r-- 1 root root 12 Apr 1 x\n-rw-r--r-- 1 1000 1000 12 Apr 1 x", "-rw-r--r-- 1 root root 12 Apr 1 x\n-rw-r--r-- 1 1000 1000 12 Apr 1 x", ""},

		{"-rw-r--r-- alice/devs 12 2026-01-01 x\n  123 4 drwxr-xr-x 2 alice devs 4096 Jan 1 ./x\n-rw-r--r--@ 1 alice  staff  8 x", "-rw-r--r-- user/group 12 2026-01-01 x\n  123 4 drwxr-xr-x 2 user group 4096 Jan 1 ./x\n-rw-r--r--@ 1 user  staff  8 x", "user_name 5"},
		{"Access: (0644/-rw-r--r--)  Uid: ( 1000/   alice)   Gid: ( 1000/   alice)", "Access: (0644/-rw-r--r--)  Uid: ( 1000/   user)   Gid: ( 1000/   group)", "user_name 2"},
		{"USER       PID %CPU\nalice       12  0.0\nroot         1  0.0", "USER       PID %CPU\nuser       12  0.0\nroot         1  0.0", "user_name 1"},
		{"alice@alices-MacBook-Pro shop % ls", "user@host shop % ls", "host_name 1, user_name 1"},
		{`Linux box-7 5.15.0-91-generic #101 box-7`, `Linux host 5.15.0-91-generic #101 host`, "host_name 2"},
		{`{"password": "ab\"c-Zk3vQ9xLw2"}`, `{"password": "REDACTED_SECRET"}`, "secret 1"},
		{`{"auths":{"https://index.docker.io/v1/":{"auth":"ZGVwbG95Olp2SzNrUTl4THcy"}}}`, `{"auths":{"https://index.docker.io/v1/":{"auth":"REDACTED_SECRET"}}}`, "secret 1"},
		{`export PW_TOKEN=Zk3vQ9xLw2Rt7Yb8; echo Zk3vQ9xLw2Rt7Yb8`, `export PW_TOKEN=REDACTED_SECRET; echo REDACTED_SECRET`, "secret 2"},
		{`\\srv\Users\alice\x file:///C:/Users/%C3%9Cnal/x ~alice/x`, `\\srv\Users\user\x file:///C:/Users/user/x ~user/x`, "home_path 3"},
		{"", "", ""}, {"ho", "ho", ""},
	} {
		got, counts := privacy.Options{}.Scrub([]byte(c.text))
		if string(got) != c.want || counted(counts) != c.counts {
			t.Errorf("%s\ngot  %s (%s)\nwant %s (%s)", c.text, got, counted(counts), c.want, c.counts)
		}
	}
}

func TestKeepPaths(t *testing.T) {
	text := `{"username":"carol","hostname":"box-7"} carol /home/carol ghp_` + letters(36)
	got := privacy.Options{KeepPaths: true}.ScrubString(text)
	if want := `{"username":"carol","hostname":"host"} carol /home/carol REDACTED_GITHUB_TOKEN`; got != want {
		t.Errorf("got %s", got)
	}
}

var pieces = []string{
	"/home/", "/Users/", `C:\\Users\\`, "-Users-", "__home__", "_Users_", "C--Users-", "_", "alice", "bob smith", "user", `\n`, `\\`, `\"`, " ", ":", "=", "@", "-", "/", ".", "ghp_", "sk-", "Bearer ", "eyJ",
	letters(36), "aBcDeFgHiJ.", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", `username\":\"carol`, "é", `\u00e9`, `\u001b[32m`, "AKIA", "IOSFODNN7EXAMPLE", "secret_access_key=",
}

// TestJSONStaysJSON draws strings of private and harmless pieces: the text of an object stays
// JSON with the same members, and a second pass finds nothing.
func TestJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "text"), "")
		}
		text := fmt.Sprintf(`{"username":"carol","hostname":"box-7","a":"%s","b":["%s"]}`, draw(), draw())
		if !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		before := strings.Clone(text)
		got, _ := privacy.Options{}.Scrub([]byte(text))
		var v struct {
			Username, Hostname, A string
			B                     []string
		}
		if err := json.Unmarshal(got, &v); err != nil || len(v.B) != 1 || v.Username != "user" {
			t.Fatalf("%s\n%s\n%v", text, got, err)
		}
		if again, counts := (privacy.Options{}).Scrub(got); !bytes.Equal(again, got) || len(counts) > 0 {
			t.Fatalf("%s\n%s\nagain %s", text, got, again)
		}
		if text != before {
			t.Fatal("the input was changed")
		}
	})
}

// TestNamesOfPaths draws names of files and folders: those made of the path of a home
// directory lose its user, and nothing else; others stay.
func TestNamesOfPaths(t *testing.T) {
	word := rapid.SampledFrom([]string{"my", "page", "test", "table", "home", "Users", "src", "index", "jane", "v2"})
	rapid.Check(t, func(t *rapid.T) {
		sep := rapid.SampledFrom([]string{"-", "_", "__"}).Draw(t, "separator")
		words := rapid.SliceOfN(word, 1, 5).Draw(t, "words")
		before := rapid.SampledFrom([]string{"/", "a/b/", `C:\\`, ` /`}).Draw(t, "before")
		name := strings.Join(words, sep)
		if got := (privacy.Options{}).ScrubString(before + name); got != before+name {
			t.Fatalf("%s became %s", before+name, got)
		}
		root := sep + rapid.SampledFrom([]string{"Users", "home"}).Draw(t, "root") + sep
		user := rapid.StringMatching(`[a-z]{3,8}[0-9]`).Draw(t, "user")
		made := before + root + "%s" + sep + name + "/x"
		if got, want := (privacy.Options{}).ScrubString(fmt.Sprintf(made, user)), fmt.Sprintf(made, "user"); got != want {
			t.Fatalf("%s became %s, want %s", fmt.Sprintf(made, user), got, want)
		}
	})
}

func FuzzScrub(f *testing.F) {
	for _, p := range pieces {
		f.Add([]byte("/home/alice " + p))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		out, counts := privacy.Options{}.Scrub(data)
		if !bytes.Equal(before, data) || len(counts) == 0 && !bytes.Equal(out, data) {
			t.Error("input changed, or output without a count")
		}
	})
}

func BenchmarkScrub(b *testing.B) {
	clean := []byte(strings.Repeat(`{"id":12,"source":"agent","action":"run","args":{"command":"cd /testbed && python -m pytest tests/test_requests.py -k home_page","thought":"Let me check the session handling of users."},"content":"def get_adapter(self, url):\n    for prefix in self.adapters:\n        pass\n"}`, 4000))
	private := bytes.ReplaceAll(clean, []byte("/testbed"), []byte("/home/alice/w"))
	for name, text := range map[string][]byte{"clean": clean, "private": private} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				privacy.Options{}.Scrub(text)
			}
		})
	}
}
