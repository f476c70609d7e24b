package privacy

import (
	"bytes"
	"strings"
)

// The kinds of tokens that have a shape of their own.
const (
	AnthropicKey Kind = "anthropic_key"
	AWSKeyID     Kind = "aws_key_id"
	DigitalOcean Kind = "digitalocean_token"
	DiscordToken Kind = "discord_token"
	GitHubToken  Kind = "github_token"
	GitLabToken  Kind = "gitlab_token"
	GoogleKey    Kind = "google_key"
	HuggingFace  Kind = "huggingface_token"
	NPMToken     Kind = "npm_token"
	OpenAIKey    Kind = "openai_key"
	OpenRouter   Kind = "openrouter_key"
	PyPIToken    Kind = "pypi_token"
	SendGridKey  Kind = "sendgrid_key"
	SlackToken   Kind = "slack_token"
	StripeKey    Kind = "stripe_key"
	Telegram     Kind = "telegram_token"
	Azure        Kind = "azure_secret"
)

// token is the shape of a secret behind its prefix.
type token struct {
	kind        Kind
	least, most int // bytes behind the prefix; most 0 is no limit
	in          func(byte) bool
	bound       bool // the prefix begins a word
	digit       bool // there is a digit in it
}

// shape is a token with the prefixes it has.
type shape struct {
	prefixes []string
	token
}

// shapes are the tokens that a prefix, a length and a set of characters tell, as their
// providers document them or as they are seen.
var shapes = []shape{
	{[]string{"sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"}, token{StripeKey, 16, 0, isAlnum, true, false}},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, token{GitHubToken, 30, 0, isAlnum, false, false}},
	{[]string{"github_pat_"}, token{GitHubToken, 22, 0, isName, false, false}},
	{[]string{"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"}, token{GitLabToken, 20, 0, isDotted, false, false}},
	{[]string{"AKIA", "ASIA"}, token{AWSKeyID, 16, 16, isUpperAlnum, true, false}},
	{[]string{"AIza"}, token{GoogleKey, 35, 45, isURLSafe, true, false}},
	{[]string{"ya29."}, token{GoogleKey, 20, 0, isDotted, true, false}},
	{[]string{"GOCSPX-"}, token{GoogleKey, 20, 0, isURLSafe, true, false}},
	{[]string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xapp-"}, token{SlackToken, 16, 0, isSlack, false, true}},
	{[]string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/", `hooks.slack.com\/services\/`}, token{SlackToken, 20, 0, isWebhook, false, true}},
	{[]string{"api/webhooks/", `api\/webhooks\/`}, token{DiscordToken, 60, 0, isWebhook, false, true}},
	{[]string{"hf_"}, token{HuggingFace, 30, 0, isAlnum, true, false}},
	{[]string{"npm_"}, token{NPMToken, 36, 36, isAlnum, true, false}},
	{[]string{"pypi-AgE"}, token{PyPIToken, 40, 0, isURLSafe, false, false}},
	{[]string{"dop_v1_", "doo_v1_", "dor_v1_"}, token{DigitalOcean, 64, 0, isAlnum, false, false}},
	{[]string{"gsk_"}, token{"groq_key", 40, 0, isAlnum, true, true}},
	{[]string{"xai-"}, token{"xai_key", 40, 0, isAlnum, true, true}},
	{[]string{"pplx-"}, token{"perplexity_key", 32, 0, isAlnum, true, true}},
	{[]string{"tgp_v1_"}, token{"together_key", 30, 0, isURLSafe, true, true}},
	{[]string{"fw_"}, token{"fireworks_key", 22, 0, isAlnum, true, true}},
	{[]string{"r8_"}, token{"replicate_token", 37, 40, isAlnum, true, true}},
	{[]string{"dapi"}, token{"databricks_token", 32, 34, isHexDash, true, true}},
	{[]string{"NRAK-", "NRJS-", "NRII-", "NRRA-"}, token{"newrelic_key", 19, 42, isURLSafe, true, true}},
	{[]string{"sntrys_", "sntryu_"}, token{"sentry_token", 40, 0, isSentry, true, true}},
	{[]string{"vcp_", "vck_", "vercel_blob_rw_"}, token{"vercel_token", 24, 0, isName, true, true}},
	{[]string{"nfp_", "nfc_", "nfo_", "nfu_"}, token{"netlify_token", 36, 0, isAlnum, true, true}},
	{[]string{"cfut_", "cfat_", "cfk_"}, token{"cloudflare_token", 36, 0, isURLSafe, true, true}},
	{[]string{"v1.0-"}, token{"cloudflare_token", 140, 0, isHexDash, true, true}},
	{[]string{"HRKU-"}, token{"heroku_key", 36, 0, isURLSafe, true, true}},
	{[]string{"lin_api_", "lin_oauth_"}, token{"linear_key", 32, 0, isAlnum, true, true}},
	{[]string{"ntn_"}, token{"notion_token", 40, 0, isAlnum, true, true}},
	{[]string{"secret_"}, token{"notion_token", 43, 43, isAlnum, true, true}},
	{[]string{"figd_", "figu_", "figo_"}, token{"figma_token", 36, 0, isURLSafe, true, true}},
	{[]string{"sbp_"}, token{"supabase_key", 40, 44, isName, true, true}},
	{[]string{"sb_secret_"}, token{"supabase_key", 20, 0, isURLSafe, true, true}},
	{[]string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}, token{"planetscale_token", 30, 0, isDotted, true, true}},
	{[]string{"pcsk_"}, token{"pinecone_key", 40, 0, isName, true, true}},
	{[]string{"lsv2_pt_", "lsv2_sk_", "ls__"}, token{"langsmith_key", 32, 0, isName, true, true}},
	{[]string{"wandb_v1_"}, token{"wandb_key", 30, 0, isName, true, true}},
	{[]string{"ATATT3x", "ATCTT3x", "ATBB"}, token{"atlassian_token", 20, 0, isBearerURL, true, true}},
	{[]string{"shpat_", "shpss_", "shpca_", "shppa_"}, token{"shopify_token", 32, 0, isHex, true, true}},
	{[]string{"sq0atp-", "sq0csp-", "sq0idp-"}, token{"square_token", 22, 0, isURLSafe, true, true}},
	{[]string{"EAAA"}, token{"square_token", 60, 60, isURLSafe, true, true}},
	{[]string{"AGE-SECRET-KEY-1"}, token{"age_key", 50, 60, isUpperAlnum, false, true}},
	{[]string{"rubygems_"}, token{"rubygems_key", 48, 48, isHex, true, true}},
	{[]string{"dckr_pat_", "dckr_oat_"}, token{"dockerhub_token", 27, 0, isURLSafe, true, true}},
	{[]string{"SK"}, token{"twilio_key", 32, 32, isHex, true, true}},
	{[]string{"key-"}, token{"mailgun_key", 32, 32, isHex, true, true}},
	{[]string{"hvs.", "hvb.", "hvr."}, token{"vault_token", 24, 0, isURLSafe, true, true}},
	{[]string{"glsa_", "glc_"}, token{"grafana_token", 32, 0, isBearer, true, true}},
	{[]string{"PMAK-"}, token{"postman_key", 50, 0, isURLSafe, true, true}},
	{[]string{"dp.pt.", "dp.st.", "dp.ct."}, token{"doppler_token", 40, 0, isDotted, true, true}},
	{[]string{"tvly-"}, token{"tavily_key", 20, 0, isURLSafe, true, true}},
	{[]string{"xkeysib-"}, token{"brevo_key", 60, 0, isURLSafe, true, true}},
	{[]string{"e2b_"}, token{"e2b_key", 32, 0, isHex, true, true}},
	{[]string{"sgp_"}, token{"sourcegraph_token", 40, 0, isName, true, true}},
	{[]string{"CCIPAT_", "CCIPRJ_"}, token{"circleci_token", 30, 0, isName, true, true}},
	{[]string{"bkua_"}, token{"buildkite_token", 40, 0, isHex, true, true}},
	{[]string{"ops_eyJ"}, token{"onepassword_token", 200, 0, isBase64, true, true}},
	{[]string{"jina_"}, token{"jina_key", 40, 0, isURLSafe, true, true}},
	{[]string{"fc-"}, token{"firecrawl_key", 32, 32, isHex, true, true}},
	{[]string{"nvapi-"}, token{"nvidia_key", 50, 0, isURLSafe, true, true}},
	{[]string{"fm2_", "fo1_"}, token{"fly_token", 40, 0, isBearer, true, true}},
}

func isSlack(c byte) bool     { return isURLSafe(c) || c == '%' || c == '.' }
func isWebhook(c byte) bool   { return isURLSafe(c) || c == '/' || c == '\\' }
func isHexDash(c byte) bool   { return isHex(c) || c == '-' }
func isSentry(c byte) bool    { return isBase64(c) || c == '_' }
func isBearerURL(c byte) bool { return isURLSafe(c) || c == '=' || c == '.' }

func tokenRules() []rule {
	var out []rule
	for _, sh := range shapes {
		for _, p := range sh.prefixes {
			t, n := sh.token, len(p)
			word := p
			if n < 3 {
				continue // see below
			}
			out = append(out, rule{words: []string{word}, raw: true, find: func(s *scrubber, i int) { s.token(i, i+n, t) }})
		}
	}
	return append(out, []rule{
		{words: []string{"sk-"}, raw: true, find: modelKey},
		{words: []string{"SG."}, raw: true, find: func(s *scrubber, i int) {
			d := s.view.text
			if end := i + 3 + run(d[i+3:], isURLSafe); end-i-3 >= 16 && end < len(d) && d[end] == '.' {
				s.token(i, end+1, token{kind: SendGridKey, least: 30, in: isURLSafe, bound: true})
			}
		}},
		{words: []string{"SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"}, raw: true, find: func(s *scrubber, i int) {
			s.token(i, i+2, token{"twilio_key", 32, 32, isHex, true, true})
		}},
		{words: []string{":AA"}, raw: true, find: func(s *scrubber, i int) {
			n := back1(s.view.text[:i], func(c byte) bool { return c-'0' < 10 })
			if n >= 8 && n <= 10 {
				s.token(i-n, i+1, token{Telegram, 33, 36, isURLSafe, true, false})
			}
		}},
		{words: []string{"8Q~", "7Q~"}, raw: true, find: func(s *scrubber, i int) {
			if n := back1(s.view.text[:i], isURLSafe); n >= 3 {
				s.token(i-3, i+3, token{Azure, 31, 34, isAzure, false, false})
			}
		}},
		{words: []string{"pat"}, raw: true, find: func(s *scrubber, i int) {
			d := s.view.text
			if n := run(d[i+3:], isAlnum); n == 14 && i+17 < len(d) && d[i+17] == '.' {
				s.token(i, i+18, token{"airtable_token", 64, 64, isHex, true, false})
			}
		}},
		{words: snowflakes(), raw: true, find: discord},
		{words: []string{"eyJ"}, raw: true, find: jwt},
		{words: []string{"BEGIN "}, raw: true, find: privateKey},
		{words: []string{`hostname"`}, raw: true, find: func(s *scrubber, i int) {
			if back(s.view.text, i, `"`) {
				s.metadata(i + len(`hostname"`))
			}
		}},
		{words: []string{`"USER"`, `"USERNAME"`, `"LOGNAME"`}, raw: true, find: func(s *scrubber, i int) { s.stated(i, UserName) }},
		{words: []string{`"HOSTNAME"`, `"COMPUTERNAME"`}, raw: true, find: func(s *scrubber, i int) { s.stated(i, HostName) }},
	}...)
}

func isAzure(c byte) bool { return isURLSafe(c) || c == '.' || c == '~' }

// snowflakes are the beginnings of decimal numbers in base64, as Discord writes them.
func snowflakes() (words []string) {
	for _, first := range []string{"MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"} {
		for _, third := range "AEIMQUYcgk" {
			words = append(words, first+string(third))
		}
	}
	return words
}

// discord finds a token of a bot: a number, a time and a signature.
func discord(s *scrubber, i int) {
	d := s.view.text
	n := run(d[i:], isURLSafe)
	if n < 23 || n > 28 {
		return
	}
	at := i + n
	if at+8 > len(d) || d[at] != '.' || run(d[at+1:], isURLSafe) != 6 || d[at+7] != '.' {
		return
	}
	s.token(i, at+8, token{DiscordToken, 27, 45, isURLSafe, true, false})
}

// token replaces a secret whose prefix is text[from:rest].
func (s *scrubber) token(from, rest int, t token) {
	d := s.view.text
	n := run(d[rest:], t.in)
	if t.bound && !boundary(d, from) || inEscape(d, from) {
		return
	}
	end := rest + n
	if s.raw && n >= 4 && end < len(d) && d[end] == '\\' && (t.most == 0 || n < t.most) {
		s.unsure = true // it may go on in the next line
	}
	if more := s.wrapped(rest, end, t); more > 0 {
		end += more
	}
	secret := s.view.text[rest:end]
	switch {
	case end-rest < t.least, t.most > 0 && n > t.most:
	case t.digit && (!bytes.ContainsAny(secret, "0123456789") || repeats(secret)):
	default:
		s.replace(from, end, t.kind.placeholder(), t.kind)
	}
}

// wrapped returns how many bytes behind text[from:end] a line break and the rest of a secret
// take, 0 when it is whole. Only what looks as drawn by lot goes on in the next line.
func (s *scrubber) wrapped(from, end int, t token) int {
	if s.raw || end-from < 4 || t.most > 0 && end-from >= t.most {
		return 0
	}
	d := s.view.text[end:]
	gap := run(d, func(c byte) bool { return c == '\\' })
	if gap > 1 {
		return 0
	}
	line := run(d[gap:], func(c byte) bool { return c == '\r' || c == '\n' })
	if line == 0 || line > 2 {
		return 0
	}
	gap += line
	gap += run(d[gap:], isBlank)
	n := run(d[gap:], t.in)
	rest := d[gap : gap+n]
	if n == 0 || gap+n < len(d) && isWord(d[gap+n]) {
		return 0
	}
	short := end-from < t.least
	switch {
	case t.most > 0:
		if end-from+n < t.least || end-from+n > t.most {
			return 0
		}
	case short && end-from+n < t.least:
		return 0
	case !short && n < 6:
		return 0
	}
	if !bytes.ContainsAny(rest, "0123456789") || bytes.IndexFunc(rest, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }) < 0 || repeats(rest) {
		return 0
	}
	return gap + n
}

// repeats reports whether a text is a filling such as xxxxxxxx.
func repeats(secret []byte) bool {
	const most = 8
	n := 1
	for i := 1; i < len(secret); i++ {
		if secret[i] != secret[i-1] {
			n = 0
		}
		if n++; n >= most {
			return true
		}
	}
	return false
}

// modelKey finds the keys of model providers: sk-..., sk-proj-..., sk-ant-...
func modelKey(s *scrubber, i int) {
	t := token{kind: OpenAIKey, least: 20, in: isURLSafe, bound: true, digit: true}
	switch rest := string(s.view.text[i:min(len(s.view.text), i+8)]); {
	case strings.HasPrefix(rest, "sk-ant-"):
		t.kind = AnthropicKey
	case strings.HasPrefix(rest, "sk-or-"):
		t.kind = OpenRouter
	}
	s.token(i, i+3, t)
}
