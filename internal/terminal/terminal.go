// Package terminal writes for people: what stands in logs never moves a cursor, sets a title,
// fills a clipboard or turns text around.
//
// Invariants:
//
//   - Control characters (C0 but for line feed and tab, DEL, C1), format characters (bidi
//     marks, overrides and isolates, zero-width ones, tags) and line separators are written as
//     JSON escapes them, and bytes that are no UTF-8, lone surrogates among them, as \xNN. So
//     text in JSON stays the same data.
//   - Other text is written as it stands.
//   - How a text is cut into calls of Write makes no difference.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"
)

// Writer escapes what is written through it. It is used by one goroutine.
type Writer struct {
	to   io.Writer
	part []byte // the beginning of a character that the next call goes on with
	buf  []byte
}

// NewWriter returns a Writer to a terminal, a pipe or a file.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write escapes p. It keeps back the beginning of a character at the end of p.
func (w *Writer) Write(p []byte) (int, error) {
	text := p
	if len(w.part) > 0 {
		text = append(w.part, p...)
	}
	end := len(text) - unfinished(text)
	w.buf = appendEscaped(w.buf[:0], text[:end], "\n\t")
	w.part = append([]byte(nil), text[end:]...)
	if _, err := w.to.Write(w.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what the last call kept back.
func (w *Writer) Flush() error {
	if len(w.part) == 0 {
		return nil
	}
	w.buf = appendEscaped(w.buf[:0], w.part, "")
	w.part = nil
	_, err := w.to.Write(w.buf)
	return err
}

// Data returns a writer for a program's input: the bytes as they are, but escaped where a
// terminal would show them.
func (w *Writer) Data() io.Writer {
	if w.Terminal() {
		return w
	}
	return w.to
}

// Terminal reports whether people see what is written at once.
func (w *Writer) Terminal() bool {
	f, ok := w.to.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Controls returns a writer for control codes of the program's own.
func (w *Writer) Controls() io.Writer { return w.to }

// Escape returns a text on one line.
func Escape(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	return string(appendEscaped(nil, []byte(s), ""))
}

// hidden reports whether a character does something else than stand there.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// appendEscaped appends text with what is hidden escaped, but for the characters in plain.
func appendEscaped(b, text []byte, plain string) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\x%02x`, text[i])
		case !hidden(r), strings.ContainsRune(plain, r):
			b = append(b, text[i:i+n]...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		i += n
	}
	return b
}

// unfinished is the number of bytes at the end of text that may begin a character.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(text[len(text)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}
