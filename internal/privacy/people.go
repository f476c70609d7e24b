package privacy

import (
	"bytes"
	"strings"
)

// peopleRules find the names of people and machines that a log states as such.
var peopleRules = []rule{
	{words: []string{"@"}, hint: hintAt, find: at},
	{words: []string{"://", `:\/\/`, `:\\/\\/`}, hint: hintURL, find: func(*scrubber, int) {}},
	{words: []string{"rwx", "-rw-", "drw-", "-r--", "-r-x", "dr-x", "-rws", "drws", "lrw-", "srw-", "prw-", "crw-", "brw-"}, raw: true, find: listing},
	{words: []string{"uid=", "gid=", "groups="}, raw: true, find: identity},
	{words: []string{"Uid: (", "Gid: ("}, raw: true, find: status},
	{words: []string{":x:"}, raw: true, find: passwd},
	{words: []string{" pts/", " tty1", " tty2", " ttys"}, raw: true, find: terminal},
	{words: []string{"PID %CPU", "PID  PPID", "PID    PPID", "PID COMMAND", "PID TTY", "PID PPID"}, find: processes},
	{words: []string{"user.name", "user.email"}, hint: hintGitConfig, find: gitConfig},
	{words: []string{"[user]"}, find: gitSection},
	{words: []string{"AUTHOR_NAME=", "COMMITTER_NAME="}, find: gitVariable},
	{words: []string{"Linux ", "Darwin "}, raw: true, find: uname},
}

const longestName = 64

// before returns the beginning of the name that ends at d[i].
func before(d []byte, i int, in func(byte) bool) int {
	from := i - back1(d[max(0, i-longestName):i], in)
	if from < i && inEscape(d, from) {
		from++
	}
	return from
}

func isUserInfo(c byte) bool {
	return c > ' ' && c != 0x7f && strings.IndexByte("\"'`<>/\\@()[]{},|", c) < 0
}

func isLocal(c byte) bool { return isAlnum(c) || strings.IndexByte("._+-%", c) >= 0 || c >= 0x80 }
func isHost(c byte) bool  { return isAlnum(c) || c == '.' || c == '-' }

// hintAt passes an @ that may stand in an address.
func hintAt(d []byte, i int) bool {
	if i == 0 || i+1 == len(d) || !isAlnum(d[i+1]) && d[i+1] != '[' && d[i+1] != '\\' {
		return false
	}
	from := before(d, i, isUserInfo)
	if from == i {
		return false
	}
	if bytes.IndexByte(d[from:i], ':') >= 0 || d[i-1] == '\\' || from > 1 && d[from-1] == '/' {
		return true
	}
	n := run(d[i+1:], isHost)
	host := d[i+1 : i+1+n]
	if bytes.IndexByte(host, '.') > 0 {
		return isDomain(string(host))
	}
	rest := d[i+1+n:]
	if common(string(d[from:i])) && common(string(host)) {
		return false
	}
	return len(rest) > 1 && (rest[0] == ':' && strings.IndexByte("~/\\", rest[1]) >= 0 || rest[0] == ' ' || rest[0] == '#' || rest[0] == '$')
}

// hintURL passes an address whose name of a user may be followed by an @ in another spelling.
func hintURL(d []byte, i int) bool {
	rest := d[i:min(len(d), i+300)]
	end := run(rest, func(c byte) bool { return c > ' ' && strings.IndexByte("\"'<>`", c) < 0 })
	return bytes.Contains(rest[:end], []byte("%40"))
}

// at finds what an @ stands in: the name and password in a URL, an address of a person, the
// prompt of a shell, the name of a remote machine.
func at(s *scrubber, i int) {
	d := s.view.text
	if i == 0 || i+1 == len(d) {
		return
	}
	if userInfo(s, i) {
		return
	}
	from := before(d, i, isLocal)
	end := i + 1 + run(d[i+1:], isHost)
	for end > i+1 && strings.IndexByte(".-", d[end-1]) >= 0 {
		end--
	}
	if from == i || end == i+1 || i-from > longestName || from > 0 && (d[from-1] == '@' || d[from-1] == '/' || d[from-1] == '$') {
		return
	}
	user, host := string(d[from:i]), string(d[i+1:end])
	switch {
	case isPrompt(d, from, end), isRemote(d, from, end):
		if common(user) && common(host) {
			return
		}
		if !s.keep && !common(user) && !isFilling(user) {
			s.learn(name{word: user, kind: UserName, at: true})
			s.replace(from, i, "user", UserName)
		}
		if !common(host) && !isDocumentation(host) && !isPublicHost(host) && !isFilling(host) {
			s.learn(name{word: host, kind: HostName})
			s.replace(i+1, end, "host", HostName)
		}
	case isDomain(host) && (end == len(d) || d[end] != '/' && d[end] != '(') && isPerson(user, host):
		s.author(from, end)
		s.replace(from, end, Email.placeholder(), Email)
	}
}

// isFilling reports whether a name is a variable or placeholder.
func isFilling(word string) bool {
	return strings.ContainsAny(word, "$%") || word == "user" || word == "host" || strings.HasPrefix(word, "REDACTED")
}

// userInfo finds the password in a URL, or the token that stands for one.
func userInfo(s *scrubber, i int) bool {
	d := s.view.text
	const longest = 512
	from := i - back1(d[max(0, i-longest):i], func(c byte) bool { return c > ' ' && c != 0x7f && strings.IndexByte("\"'`<>\\", c) < 0 })
	at := bytes.LastIndex(d[from:i], []byte("://"))
	if at < 0 {
		return false
	}
	info := d[from+at+len("://") : i]
	if bytes.IndexByte(info, '/') >= 0 && !(bytes.IndexByte(info, ':') > 0 && bytes.IndexByte(info, '/') > bytes.IndexByte(info, ':')) || bytes.ContainsAny(info, "?#") && bytes.IndexByte(info, ':') < 0 {
		return false // the @ stands in the path
	}
	user, password, ok := strings.Cut(string(info), ":")
	first := i - len(info)
	switch {
	case strings.ContainsAny(string(info), "{}$[]()*|,;") && strings.ContainsAny(string(info), "{}$"):
		return true // a template
	case ok && isPort(password):
		return false
	case ok:
		if password == "" || strings.HasPrefix(password, "REDACTED") || strings.HasPrefix(password, "%") && !strings.ContainsAny(password, "0123456789") || isWords(password) && (len(password) < 4 || isWords(user) || strings.EqualFold(user, password)) {
			return true
		}
		if len(password) >= 8 && run([]byte(password), isBearer) == len(password) && strings.ContainsAny(password, "0123456789") && strings.ContainsFunc(password, isLetter) {
			s.learn(name{word: password, kind: SecretValue})
		}
		// The user of a token is no name, that of a password may be one.
		if user != "" && !s.keep && !common(user) && !isWords(user) && !strings.HasPrefix(user, "x-") && !strings.HasPrefix(user, "REDACTED") && run([]byte(user), isLogin) == len(user) {
			s.replace(first, first+len(user), "user", UserName)
		}
		s.replace(i-len(password), i, URLCredentials.placeholder(), URLCredentials)
		return true
	case len(user) >= 16 && drawn(user) && !strings.HasPrefix(user, "REDACTED"):
		s.replace(first, i, URLCredentials.placeholder(), URLCredentials)
		return true
	case !s.keep && !common(user) && !isFilling(user) && run([]byte(user), isLogin) == len(user) && len(user) >= shortestName && bytes.HasSuffix(d[:from+at], []byte("ssh")):
		s.learn(name{word: user, kind: UserName, at: true})
		s.replace(first, i, "user", UserName)
		return true
	}
	return false
}

// isPort reports whether what stands behind a colon is a port and a path with an @ in it.
func isPort(rest string) bool {
	n := 0
	for n < len(rest) && rest[n]-'0' < 10 {
		n++
	}
	return n >= 2 && n <= 5 && n < len(rest) && rest[n] == '/'
}

// isPrompt reports whether d[from:end] is the name of a user and machine in a prompt:
// alice@box:~/x$, [alice@box x]#, alice@box x %.
func isPrompt(d []byte, from, end int) bool {
	if !boundary(d, from) || from > 0 && strings.IndexByte(" \t\n\r[(\"'`m>:=", d[from-1]) < 0 && !inEscape(d, from-1) {
		return false
	}
	const longest = 120
	rest := d[end:min(len(d), end+longest)]
	if len(rest) == 0 {
		return false
	}
	switch rest[0] {
	case ':':
		n := run(rest[1:], func(c byte) bool { return c > ' ' && strings.IndexByte("$#%\"'`<>", c) < 0 })
		return len(rest) > 1 && (rest[1] == '~' || rest[1] == '/') && 1+n < len(rest) && strings.IndexByte("$#%", rest[1+n]) >= 0
	case '#', '$', '%':
		return len(rest) == 1 || rest[1] == ' '
	case ' ':
		n := run(rest[1:], func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`<>,;:|&=()", c) < 0 })
		if n == 0 {
			return false
		}
		next := rest[1+n:]
		if d[max(0, from-1)] == '[' {
			return rest[n] == ']' && len(next) == 0 || bytes.HasPrefix(rest[1:], []byte("~")) || n > 1 && bytes.IndexByte(rest[1:1+n], ']') > 0
		}
		return len(next) > 2 && (bytes.HasPrefix(next, []byte(" % ")) || bytes.HasPrefix(next, []byte(" $ ")) || bytes.HasPrefix(next, []byte(" # ")))
	}
	return false
}

// isRemote reports whether d[from:end] names an account of another machine for a command.
func isRemote(d []byte, from, end int) bool {
	const longest = 120
	line := d[max(0, from-longest):from]
	if n := bytes.LastIndexAny(line, "\n;|&`"); n >= 0 {
		line = line[n+1:]
	}
	words := strings.Fields(string(line))
	for _, w := range words {
		switch strings.Trim(w, `"'(`) {
		case "ssh", "scp", "sftp", "rsync", "mosh", "ssh-copy-id", "sshfs", "autossh":
			return true
		}
	}
	return false
}

func isPublicHost(host string) bool {
	switch host {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "ssh.github.com", "altssh.gitlab.com", "ssh.dev.azure.com", "hf.co", "huggingface.co":
		return true
	}
	return false
}

// endings are the last labels of the domains that people have mail at, beside countries.
var endings = strings.Fields("com org net edu gov mil int info biz name dev app tech cloud email mail local internal corp lan home example test invalid")

// countries are those whose codes are no names of members or files in code.
var countries = strings.Fields("ac ai at au be bg br ca cc cf ch cl cn co cz de dk ee es eu fi fr gr hk hr hu id ie il in io ir is it jp kr lt lu lv me mx nl no nz pe ph pl pt ro ru se sg si sk th tr tv tw ua uk us vn za")

// isDomain reports whether a host is one that has mail.
func isDomain(host string) bool {
	at := strings.LastIndexByte(host, '.')
	if at <= 0 || strings.Contains(host, "..") || host[0] == '-' {
		return false
	}
	last := host[at+1:]
	lower := strings.ToLower(last)
	for _, list := range [...][]string{endings, countries} {
		for _, e := range list {
			if e == lower {
				return last == lower || strings.ToUpper(host) == host
			}
		}
	}
	return false
}

// isDocumentation reports whether a domain is kept for examples (RFC 2606), or used so.
func isDocumentation(host string) bool {
	host = strings.ToLower(host)
	for _, d := range [...]string{"example.com", "example.org", "example.net", "example.edu", "email.com", "domain.com", "mail.com", "test.com", "foo.com", "bar.com", "company.com", "yourdomain.com", "host.com", "site.com", "server.com", "x.com", "y.com", "b.com", "a.com", "b.c", "example.co.uk"} {
		if host == d || strings.HasSuffix(host, "."+d) {
			return true
		}
	}
	switch host[strings.LastIndexByte(host, '.')+1:] {
	case "example", "test", "invalid", "localhost":
		return true
	}
	return strings.Contains(host, "example")
}

// isPerson reports whether an address is that of a person. Those of examples are of none,
// but for a first and a last name; those of roles and tools neither.
func isPerson(user, host string) bool {
	lower := strings.ToLower(user)
	if common(lower) || isFilling(user) || isWords(lower) && isDocumentation(host) || strings.HasSuffix(lower, "bot") {
		return false
	}
	switch lower {
	case "noreply", "no-reply", "no_reply", "donotreply", "do-not-reply", "notifications", "notification", "mailer-daemon", "postmaster", "hostmaster", "webmaster",
		"info", "support", "help", "contact", "security", "sales", "hello", "abuse", "team", "bot", "actions", "ci", "build", "me", "you", "your", "name", "your-email", "youremail", "your_email", "email", "mail", "someone", "somebody", "nobody", "anonymous", "foo", "bar", "xxx", "example", "feedback", "privacy", "conduct", "copyright":
		return false
	}
	if strings.HasPrefix(host, "lists.") || host == "googlegroups.com" || user == strings.ToUpper(user) && len(user) < 4 {
		return false // a list
	}
	if isDocumentation(host) {
		first, last, ok := strings.Cut(lower, ".")
		return ok && len(first) >= 3 && len(last) >= 3 && run([]byte(first+last), func(c byte) bool { return c-'a' < 26 || c >= 0x80 }) == len(first+last) && !isWords(first) && !isWords(last) &&
			lower != "john.doe" && lower != "jane.doe" && lower != "first.last" && lower != "firstname.lastname"
	}
	return true
}

// author finds the name before an address in angle brackets.
func (s *scrubber) author(from, end int) {
	d := s.view.text
	if from == 0 || d[from-1] != '<' || end == len(d) || d[end] != '>' {
		return
	}
	to := from - 1 - back1(d[:from-1], isBlank)
	in := func(c byte) bool { return isWord(c) && c-'0' >= 10 && c != '_' || c == ' ' || c == '.' || c == '-' }
	at := before(d, to, in)
	for at < to && (d[at] == ' ' || d[at] == '-' || d[at] == '.') {
		at++
	}
	// A name has one word or a few; "Signed-off-by" and its kin end in a colon before it.
	name := string(d[at:to])
	words := strings.Fields(name)
	if len(words) == 0 || len(words) > 5 || common(strings.ToLower(name)) || strings.HasPrefix(name, "REDACTED") || len(name) < shortestName {
		return
	}
	for _, w := range words {
		if c := w[0]; c-'A' >= 26 && c < 0x80 && len(words) > 2 && !particle(w) {
			return
		}
	}
	s.named(at, to)
}

func particle(word string) bool {
	switch word {
	case "von", "van", "de", "der", "den", "da", "di", "du", "la", "le", "del", "dos", "bin", "ibn", "al":
		return true
	}
	return false
}

// named replaces the name of a person.
func (s *scrubber) named(from, to int) {
	word := string(s.view.text[from:to])
	if strings.Contains(word, " ") {
		s.learn(name{word: word, kind: PersonName})
	}
	s.replace(from, to, PersonName.placeholder(), PersonName)
}

// listing finds the owner and the group of a file in what ls, find and tar say.
func listing(s *scrubber, i int) {
	d := s.view.text
	from := i
	if d[i] == 'r' {
		from--
	}
	if s.keep || from < 0 || from+10 >= len(d) || strings.IndexByte("-dlcbpsD", d[from]) < 0 || !boundary(d, from) {
		return
	}
	for _, c := range d[from+1 : from+10] {
		if strings.IndexByte("rwxsStT-", c) < 0 {
			return
		}
	}
	at := from + 10
	if strings.IndexByte("+.@", d[at]) >= 0 {
		at++
	}
	field := func() (a, b int) {
		a = at + run(d[at:], isBlank)
		if a-at > 12 || a == at {
			return a, a
		}
		b = a + run(d[a:], func(c byte) bool { return isWord(c) || strings.IndexByte(".-+$/", c) >= 0 })
		at = b
		return a, b
	}
	a, b := field()
	if n := bytes.IndexByte(d[a:b], '/'); n > 0 { // tar
		s.account(a, a+n, "user")
		s.account(a+n+1, b, "group")
		return
	}
	if run(d[a:b], isDigit) != b-a || a == b {
		return
	}
	a, b = field()
	c, e := field()
	if a == b || c == e {
		return
	}
	next := d[e:]
	next = next[run(next, isBlank):]
	if len(next) == 0 || !isDigit(next[0]) {
		if run(d[c:e], isDigit) == e-c || d[c]-'0' < 10 { // -o, -g: one of the two only
			s.account(a, b, "user")
		}
		return
	}
	s.account(a, b, "user")
	s.account(c, e, "group")
}

func isDigit(c byte) bool { return c-'0' < 10 }

// account replaces the name of an account, unless it is a number or no one's.
func (s *scrubber) account(from, to int, placeholder string) {
	user := string(s.view.text[from:to])
	if from >= to || isNumber(user) || common(user) || isService(user) || user == "group" {
		return
	}
	if placeholder == "user" {
		s.learn(name{word: user, kind: UserName, at: true})
	}
	done := s.done
	s.replace(from, to, placeholder, UserName)
	s.done = max(done, s.done)
}

// isService reports whether an account is one that systems come with.
func isService(user string) bool {
	if strings.HasPrefix(user, "systemd-") {
		return true
	}
	switch user {
	case "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data", "backup", "list", "irc", "gnats", "_apt", "staff", "wheel",
		"adm", "tty", "disk", "sudo", "audio", "video", "plugdev", "users", "nogroup", "systemd-network", "systemd-resolve", "systemd-timesync", "messagebus", "sshd",
		"postgres", "mysql", "redis", "nginx", "mongodb", "rabbitmq", "everyone", "dialout", "cdrom", "floppy", "dip", "netdev", "lpadmin", "sambashare", "src", "shadow",
		"utmp", "crontab", "input", "kvm", "render", "sgx", "_ssh", "ssh", "operator", "kmem", "fax", "voice", "tape", "sasl", "polkitd", "dbus", "None", "conda", "sbuild", "root-group", "reboot", "system", "SYSTEM", "halt", "shutdown", "ftp", "http", "nobody4", "nfsnobody", "tcpdump", "tss", "uuidd", "pollinate", "landscape", "syslog", "fwupd-refresh", "usbmux", "lxd", "dnsmasq", "avahi", "pulse", "rtkit", "colord", "gdm", "geoclue", "saned", "hplip", "whoopsie", "kernoops", "speech-dispatcher", "cups-pk-helper", "nm-openvpn", "gnome-initial-setup", "swe", "oh", "model", "trae", "claude", "codex", "gemini":
		return true
	}
	return false
}

// identity finds the names in what id says: uid=1000(alice).
func identity(s *scrubber, i int) {
	d := s.view.text
	if s.keep {
		return
	}
	at := i + bytes.IndexByte(d[i:], '=') + 1
	for {
		n := run(d[at:], isDigit)
		if n == 0 || at+n >= len(d) || d[at+n] != '(' {
			return
		}
		from := at + n + 1
		to := from + run(d[from:], func(c byte) bool { return isLogin(c) || c == ' ' })
		if to >= len(d) || d[to] != ')' {
			return
		}
		placeholder := "user"
		if d[i] == 'g' {
			placeholder = "group"
		}
		s.account(from, to, placeholder)
		if at = to + 1; at >= len(d) || d[at] != ',' {
			return
		}
		at++
	}
}

// status finds the names in what stat says: Uid: ( 1000/   alice).
func status(s *scrubber, i int) {
	d := s.view.text
	if s.keep {
		return
	}
	at := i + len("Uid: (")
	at += run(d[at:], isBlank)
	at += run(d[at:], isDigit)
	if at >= len(d) || d[at] != '/' {
		return
	}
	at++
	at += run(d[at:], isBlank)
	placeholder := "user"
	if d[i] == 'G' {
		placeholder = "group"
	}
	s.account(at, at+run(d[at:], isLogin), placeholder)
}

// passwd finds the names in a line of /etc/passwd.
func passwd(s *scrubber, i int) {
	d := s.view.text
	if s.keep {
		return
	}
	at := i + len(":x:")
	at += run(d[at:], func(c byte) bool { return isDigit(c) || c == ':' })
	if at-i < len(":x:0:0:") || d[at-1] != ':' {
		return
	}
	from := before(d, i, isLogin)
	user := string(d[from:i])
	if common(user) || isService(user) {
		return
	}
	s.account(from, i, "user")
	n := run(d[at:], func(c byte) bool { return isWord(c) || strings.IndexByte(" ,.-", c) >= 0 })
	if full := strings.TrimRight(string(d[at:at+n]), ","); at+n < len(d) && d[at+n] == ':' && strings.Contains(full, " ") {
		s.replace(at, at+len(full), PersonName.placeholder(), PersonName)
	}
}

// terminal finds the name at the beginning of a line of who and last.
func terminal(s *scrubber, i int) {
	d := s.view.text
	to := i - back1(d[:i], isBlank)
	from := before(d, to, isLogin)
	if s.keep || from == to || from > 0 && d[from-1] != '\n' && d[from-1] != '"' && !inEscape(d, from-1) {
		return
	}
	s.account(from, to, "user")
}

// processes finds the owners in a table of processes.
func processes(s *scrubber, i int) {
	d := s.view.text
	start := bytes.LastIndexByte(d[:i], '\n') + 1
	if head := strings.TrimSpace(string(d[start:i])); s.keep || head != "USER" && head != "UID" && head != "RUSER" {
		return
	}
	at := i + bytes.IndexByte(append(d[i:len(d):len(d)], '\n'), '\n') + 1
	for at < len(d) {
		at += run(d[at:], isBlank)
		n := run(d[at:], func(c byte) bool { return isLogin(c) || c == '+' })
		blanks := run(d[at+n:], isBlank)
		if n == 0 || blanks == 0 || at+n+blanks >= len(d) || !isDigit(d[at+n+blanks]) {
			return
		}
		s.account(at, at+n, "user")
		next := bytes.IndexByte(d[at:], '\n')
		if next < 0 {
			return
		}
		at += next + 1
	}
}

func hintGitConfig(d []byte, i int) bool {
	const furthest = 100
	at := i + len("user.name")
	return at < len(d) && (d[at] == '=' || bytes.Contains(d[max(0, i-furthest):i], []byte("git ")) || bytes.Contains(d[max(0, i-furthest):i], []byte("config")) || bytes.HasPrefix(d[i:], []byte("user.email=")))
}

// gitConfig finds the name of a person that git is told, or tells.
func gitConfig(s *scrubber, i int) {
	d := s.view.text
	if !hintGitConfig(d, i) || !bytes.HasPrefix(d[i:], []byte("user.name")) {
		return // addresses are found by themselves
	}
	s.person(i + len("user.name"))
}

// gitVariable finds the name of a person in a variable that git reads.
func gitVariable(s *scrubber, i int) {
	s.person(i + bytes.IndexByte(s.view.text[i:], '='))
}

// gitSection finds the name of a person in a file of git's settings.
func gitSection(s *scrubber, i int) {
	d := s.view.text
	rest := d[i:min(len(d), i+200)]
	if at := bytes.Index(rest, []byte("name =")); at > 0 {
		s.person(i + at + len("name "))
	}
}

// person replaces the name of a person that stands behind a place, perhaps in quotes.
func (s *scrubber) person(at int) {
	d := s.view.text
	at += run(d[at:], func(c byte) bool { return isBlank(c) || c == '=' || c == '\\' })
	quoted := at < len(d) && (d[at] == '"' || d[at] == '\'')
	bare := at > 0 && d[at-1] == '='
	if quoted {
		at++
	}
	in := func(c byte) bool { return isWord(c) || c == '.' || c == '-' || c == '\'' && quoted }
	end := at + run(d[at:], in)
	if quoted || bare || at > 1 && d[at-2] == '=' {
		end = at + run(d[at:], func(c byte) bool { return in(c) || c == ' ' })
	}
	name := strings.TrimRight(string(d[at:end]), " '")
	end = at + len(name)
	if !personal(name) {
		return
	}
	s.named(at, end)
}

// personal reports whether a name is that of a person and not of a tool, role or variable.
func personal(name string) bool {
	lower := strings.ToLower(name)
	switch lower {
	case "openhands", "swe-agent", "swe agent", "claude", "claude code", "codex", "gemini", "cursor agent", "github actions", "dependabot", "your name", "test user", "ci", "bot", "name", "you", "me", "setup", "swe-bench", "agent", "ai", "ai assistant", "assistant", "dev", "developer", "the user", "a user", "git user":
		return false
	}
	words := strings.Fields(lower)
	for _, w := range words {
		if isWords(w) || common(w) || strings.HasSuffix(w, "bot") || w == "agent" || w == "assistant" {
			return false
		}
	}
	return len(name) >= shortestName && len(words) > 0 && len(words) <= 5 && !strings.HasPrefix(name, "REDACTED") && !strings.HasPrefix(name, "-")
}

// uname finds the name of the machine in what uname says.
func uname(s *scrubber, i int) {
	d := s.view.text
	at := i + bytes.IndexByte(d[i:], ' ') + 1
	n := run(d[at:], isLogin)
	next := at + n + 1
	if n == 0 || next+2 >= len(d) || d[at+n] != ' ' || !isDigit(d[next]) || !boundary(d, i) {
		return
	}
	release := run(d[next:], func(c byte) bool { return isDigit(c) || c == '.' })
	if bytes.Count(d[next:next+release], []byte(".")) < 2 || next+release >= len(d) || strings.IndexByte("- ", d[next+release]) < 0 {
		return
	}
	switch host := string(d[at : at+n]); {
	case host == "version", host == "kernel", host == "Kernel", common(host), isNumber(host):
	default:
		s.learn(name{word: host, kind: HostName})
		s.replace(at, at+n, "host", HostName)
	}
}
