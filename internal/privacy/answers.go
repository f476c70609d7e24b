package privacy

import "strings"

// Name is a name that an answer tells.
type Name struct {
	Word string
	Kind Kind
}

// Told returns the names that a command asked for and its answer gives, one a line: those of
// the user, the machine, and the person that git writes under.
func (o Options) Told(command, answer string) []Name {
	const longestCommand, longestAnswer = 400, 2000
	if len(command) > longestCommand || len(answer) > longestAnswer || answer == "" || !asksForNames(command) {
		return nil
	}
	var asked []Kind
	for part := range strings.FieldsFuncSeq(command, func(r rune) bool { return r == ';' || r == '&' || r == '\n' }) {
		part, _, _ = strings.Cut(part, "2>")
		words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(part))
		if len(words) > 0 && words[0] == "sudo" {
			words = words[1:]
		}
		if len(words) == 0 || words[0] == "cd" || words[0] == "1" || words[0] == "true" {
			continue
		}
		asked = append(asked, askedFor(words))
	}
	var lines []string
	for line := range strings.Lines(answer) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(asked) == 1 && asked[0] == PersonName && len(lines) > 1 {
		for len(asked) < len(lines) {
			asked = append(asked, PersonName) // of a log
		}
	}
	if len(asked) == 0 || len(lines) < len(asked) {
		return nil
	}
	var names []Name
	for i, kind := range asked {
		word := lines[i]
		switch {
		case kind == "", len(word) < shortestName, len(word) > longestName, common(strings.ToLower(word)), strings.HasPrefix(word, "REDACTED"):
		case kind == UserName && (o.KeepPaths || isService(word)):
		case kind == PersonName && (!personal(word) || strings.ContainsAny(word, `:/"'\=()[]`)):
		case kind != PersonName && strings.ContainsFunc(word, func(r rune) bool { return r < 0x80 && !isLogin(byte(r)) }):
		default:
			names = append(names, Name{word, kind})
		}
	}
	return names
}

// asksForNames reports whether a command may ask for a name.
func asksForNames(command string) bool {
	for _, word := range [...]string{"whoami", "name", "Name", "NAME", "id -", "USER", "%an", "%cn"} {
		if strings.Contains(command, word) {
			return true
		}
	}
	return false
}

// askedFor returns the kind of the name that a simple command asks for, "" for none.
func askedFor(words []string) Kind {
	line := strings.Join(words, " ")
	switch line {
	case "whoami", "logname", "id -un", "id -nu", "echo $USER", "echo ${USER}", "echo $LOGNAME", "echo %USERNAME%", "printenv USER":
		return UserName
	case "hostname", "hostname -f", "hostname -s", "uname -n", "cat /etc/hostname", "echo $HOSTNAME", "hostnamectl hostname", "scutil --get ComputerName", "scutil --get LocalHostName":
		return HostName
	}
	if words[0] != "git" {
		return ""
	}
	last := words[len(words)-1]
	switch {
	case strings.Contains(line, " config ") && (last == "user.name" || last == "author.name" || last == "committer.name"):
		return PersonName
	case strings.HasSuffix(last, "format=%an"), strings.HasSuffix(last, "format:%an"), strings.HasSuffix(last, "format=%cn"):
		return PersonName
	}
	return ""
}

// HideName replaces a name where it stands as a word in a text, plain or with the escapes of
// JSON, and returns how often it did.
func (n Name) HideName(text string) (string, int) {
	if !strings.Contains(text, n.Word) && !strings.Contains(text, `\u`) {
		return text, 0
	}
	out, count := Replace([]byte(text), n.Word, n.Kind, false)
	if spelled := ascii(n.Word); spelled != n.Word {
		var more int
		out, more = Replace(out, spelled, n.Kind, false)
		count += more
	}
	if count == 0 {
		return text, 0
	}
	return string(out), count
}

// ascii writes a text with the escapes that JSON encoders use for letters beyond ASCII.
func ascii(text string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 || r > 0xffff {
			b.WriteRune(r)
			continue
		}
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(digits[r>>shift&15])
		}
	}
	return b.String()
}
