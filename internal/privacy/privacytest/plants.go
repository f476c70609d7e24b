package privacytest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Private is a private text and the part of it that no output may hold.
type Private struct {
	Kind, Text, Needle string
	Split              bool // it may be broken over two lines
}

// Privates returns a text of every kind. They are put together here, so that no file holds
// anything that looks alive.
func Privates() []Private {
	const random = "q7Wm2Xc9Vb4Nz6Kj1Hf8Gd3Sa5Pl0Oi2Uy7Tr4Ew9Qz6Xc1Vb8Nm3Lk5Jh7Gf2Ds9Az4"
	long := func(n int) string { return strings.Repeat(random, 1+n/len(random))[:n] }
	hex := func(n int) string { return strings.Repeat("9c4e1f7a2b8d306e5", 1+n/17)[:n] }
	upper := func(n int) string { return strings.ToUpper(long(n)) }
	var out []Private
	token := func(kind, prefix, secret string) {
		out = append(out, Private{kind, "see " + prefix + secret + " there", secret[4:], true})
	}
	token("openai_key", "sk-"+"proj-", long(48))
	token("openai_key", "sk-"+"svcacct-", long(48))
	token("anthropic_key", "sk-"+"ant-api03-", long(60))
	token("openrouter_key", "sk-"+"or-v1-", hex(64))
	token("groq_key", "gsk"+"_", long(52))
	token("github_token", "ghp"+"_", long(36))
	token("github_token", "gho"+"_", long(36))
	token("github_token", "github"+"_pat_11", long(40))
	token("gitlab_token", "glpat"+"-", long(20))
	token("huggingface_token", "hf"+"_", long(34))
	token("npm_token", "npm"+"_", long(36))
	token("slack_token", "xoxb"+"-", long(30))
	token("stripe_key", "sk"+"_live_", long(24))
	token("replicate_token", "r8"+"_", long(37))
	token("xai_key", "xai"+"-", long(60))
	token("perplexity_key", "pplx"+"-", long(48))
	token("databricks_token", "dapi", hex(32))
	token("digitalocean_token", "dop"+"_v1_", hex(64))
	token("dockerhub_token", "dckr"+"_pat_", long(27))
	token("linear_key", "lin"+"_api_", long(40))
	token("figma_token", "figd"+"_", long(40))
	token("supabase_key", "sbp"+"_", hex(40))
	token("planetscale_token", "pscale"+"_tkn_", long(40))
	token("pinecone_key", "pcsk"+"_", long(50))
	token("langsmith_key", "lsv2"+"_pt_", hex(32))
	token("shopify_token", "shpat"+"_", hex(32))
	token("rubygems_key", "rubygems"+"_", hex(48))
	token("vault_token", "hvs"+".", long(40))
	token("notion_token", "ntn"+"_", long(46))
	token("google_key", "AIz"+"a", long(35))
	token("google_key", "ya29"+".", long(60))
	token("aws_key_id", "AKI"+"A", upper(16))
	plain := func(kind, format, needle string) {
		out = append(out, Private{kind, fmt.Sprintf(format, needle), needle, false})
	}
	plain("jwt", "ey"+"JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.%s", long(43))
	plain("private_key", "-----BEGIN "+"RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCDEF\n\n%[1]s\n%[1]s\n-----END RSA PRIVATE KEY-----", long(64))
	plain("url_credentials", "postgres://shop:%s@db.corp.io:5432/shop", "Zk3vQ9xLw2Rt7Yb8")
	plain("url_credentials", "redis://:%s@cache.corp.io:6379", "Zk4vQ9xLw2Rt7Yb8")
	plain("header_secret", "curl -H 'X-Api-Key: %s' x", "Zk5vQ9xLw2Rt7Yb8")
	plain("header_secret", "Authorization: Token %s", "Zk6vQ9xLw2Rt7Yb8")
	plain("header_secret", "Authorization: Basic %s", "ZGVwbG95Olp2SzNrUTl4THcy")
	plain("header_secret", "Cookie: sid=%s; a=b", "Zk7vQ9xLw2Rt7Yb8")
	plain("bearer_token", "Authorization: Bearer %s", "Zk8vQ9xLw2Rt7Yb8aa11")
	plain("secret", "https://rpc.corp.io/v1?api-key=%s&x=1", "3f2a9c1e-77b0-4d5e-9a61-0c2b8e4f7d13")
	plain("secret", "export DEPLOY_TOKEN=%s", "Zk9vQ9xLw2Rt7Yb8")
	plain("secret", "FOO_SECRET=%s", "Zk0vQ9xLw2Rt7Yb8")
	plain("secret", "db:\n  password: %s\n", "ZkavQ9xLw2Rt7Yb8")
	plain("secret", "machine git.corp.io login deploy password %s\n", "ZkbvQ9xLw2Rt7Yb8")
	plain("aws_secret_key", "AWS_SECRET_ACCESS_KEY=%s", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYZzq7Wm2Xc9")
	plain("email", "Author: Gudrun Quist <%s>", "gudrun.quist@nordwind.se")
	plain("person_name", "Signed-off-by: %s <gudrun@nordwind.se>", "Gudrun Quist")
	plain("user_name", "-rw-r--r-- 1 %s staff 8915 Apr 13 x.md\n", "gudrunq")
	plain("user_name", "uid=1000(%[1]s) gid=1000(%[1]s)", "gudrunr")
	plain("host_name", "gudruns@%s:~/x$ ls", "nordwind-box")
	plain("home_path", "cat /home/%s/x.py", "gudrunt")
	plain("home_path", "cat /Users/%s/x.py", "Gudrún")
	plain("home_path", `cd C:\Users\%s\shop`, "gudrunu")
	return out
}

// Encodings are the ways in which a text may stand in a JSON string; they return what goes
// between its quotes.
var Encodings = []struct {
	Name  string
	Write func(Private) string
}{
	{"plain", func(p Private) string { return quoted(p.Text) }},
	{"one escape", func(p Private) string {
		at := strings.Index(p.Text, p.Needle)
		return quoted(p.Text[:at]) + units(p.Text[at:at+1]) + quoted(p.Text[at+1:])
	}},
	{"all escapes", func(p Private) string { return units(p.Text) }},
	{"slashes", func(p Private) string { return strings.ReplaceAll(quoted(p.Text), "/", `\/`) }},
	{"nested", func(p Private) string { return quoted(`{"k":"` + quoted(p.Text) + `"}`) }},
	{"nested escapes", func(p Private) string { return quoted(`{"k":"` + units(p.Text) + `"}`) }},
	{"nested twice", func(p Private) string { return quoted(`{"k":"` + quoted(`{"k":"`+quoted(p.Text)+`"}`) + `"}`) }},
	{"nested thrice", func(p Private) string {
		return quoted(`["` + quoted(`{"k":"`+quoted(`{"k":"`+quoted(p.Text)+`"}`)+`"}`) + `"]`)
	}},
	{"percent", func(p Private) string {
		return quoted("u=" + strings.ReplaceAll(url.QueryEscape(p.Text), "+", "%20"))
	}},
	{"split", func(p Private) string {
		if !p.Split {
			return quoted(p.Text)
		}
		at := strings.Index(p.Text, p.Needle) + len(p.Needle)/2
		return quoted(p.Text[:at] + "\n" + p.Text[at:])
	}},
}

func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")[1 : b.Len()-2]
}

func units(text string) string {
	var b strings.Builder
	for _, r := range text {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

var (
	escape  = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)
	percent = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
)

// Hidden returns the private texts that a text holds in any spelling.
func Hidden(text string, all []Private) (found []Private) {
	for range 6 {
		for _, p := range all {
			if strings.Contains(text, p.Needle) {
				found = append(found, p)
			}
		}
		before := text
		text = escape.ReplaceAllStringFunc(text, func(e string) string {
			switch {
			case e[1] == 'u':
				r, _ := strconv.ParseUint(e[2:], 16, 32)
				return string(rune(r))
			case strings.ContainsAny(e[1:], `"/\'`):
				return e[1:]
			}
			return " "
		})
		text = percent.ReplaceAllStringFunc(text, func(e string) string {
			r, _ := strconv.ParseUint(e[1:], 16, 8)
			return string([]byte{byte(r)})
		})
		if text == before {
			break
		}
	}
	return found
}
