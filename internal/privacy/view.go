package privacy

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text with some spelling of characters undone, and where each of its bytes came
// from: byte i stands for [from[i], from[i+1]) of the text below it.
type view struct {
	text []byte
	from []int32
}

func plainView(text []byte) view { return view{text: text} }

// span returns the bytes of the text below that text[a:b] stands for.
func (v view) span(a, b int) (int, int) {
	if v.from == nil {
		return a, b
	}
	return int(v.from[a]), int(v.from[b])
}

// over composes a view of v's text with v.
func (v view) over(below view) view {
	if below.from == nil {
		return v
	}
	for i, at := range v.from {
		v.from[i] = below.from[at]
	}
	return v
}

// builder writes a view.
type builder struct{ view }

func newBuilder(n int) *builder {
	return &builder{view{text: make([]byte, 0, n), from: make([]int32, 0, n+1)}}
}

// put adds the bytes that stand for what begins at a place. All of a character begins there.
func (b *builder) put(at int, char ...byte) {
	for _, c := range char {
		b.text = append(b.text, c)
		b.from = append(b.from, int32(at))
	}
}

// copy adds d[from:to] as it is.
func (b *builder) copy(d []byte, from, to int) {
	b.text = append(b.text, d[from:to]...)
	for i := from; i < to; i++ {
		b.from = append(b.from, int32(i))
	}
}

func (b *builder) end(at int) view {
	b.from = append(b.from, int32(at))
	return b.view
}

// blanks are what the letters behind a backslash stand for.
var blanks = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': ' ', 'f': ' '}

// escapes undoes one level of the escapes of JSON and its kin: \n, \", \/, \u0041, \x41.
// What is none stays. done is false when there was nothing to undo.
func (v view) escapes() (out view, done bool) {
	d := v.text
	if bytes.IndexByte(d, '\\') < 0 {
		return v, false
	}
	b := newBuilder(len(d))
	for i := 0; i < len(d); {
		if d[i] != '\\' || i+1 == len(d) {
			n := bytes.IndexByte(d[i+1:], '\\')
			if n < 0 {
				n = len(d) - i - 1
			}
			b.copy(d, i, i+1+n)
			i += 1 + n
			continue
		}
		switch c := d[i+1]; c {
		case '"', '\\', '/', '\'':
			b.put(i, c)
			i += 2
		case 'n', 'r', 't', 'b', 'f':
			b.put(i, blanks[c])
			i += 2
		case 'x', 'u':
			n := 2
			if c == 'u' {
				n = 4
			}
			r, ok := hex(d[i+2:], n)
			if !ok {
				b.put(i, d[i])
				i++
				continue
			}
			size := 2 + n
			if utf16.IsSurrogate(r) && bytes.HasPrefix(d[i+size:], []byte(`\u`)) {
				if low, ok := hex(d[i+size+2:], 4); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
					r = utf16.DecodeRune(r, low)
					size += 6
				}
			}
			if r == '\v' || r == 0 {
				r = ' '
			}
			b.put(i, utf8.AppendRune(nil, r)...)
			i += size
		default:
			b.put(i, d[i])
			i++
		}
	}
	return b.end(len(d)).over(v), true
}

// percents undoes one level of the escapes of URLs.
func (v view) percents() (out view, done bool) {
	d := v.text
	first := 0
	for {
		n := bytes.IndexByte(d[first:], '%')
		if n < 0 {
			return v, false
		}
		first += n
		if _, ok := hex(d[first+1:], 2); ok {
			break
		}
		first++
	}
	b := newBuilder(len(d))
	for i := 0; i < len(d); {
		if d[i] == '%' {
			if r, ok := hex(d[i+1:], 2); ok && (r == '\n' || r >= ' ') {
				b.put(i, byte(r))
				i += 3
				done = true
				continue
			}
		}
		b.put(i, d[i])
		i++
	}
	if !done {
		return v, false
	}
	return b.end(len(d)).over(v), true
}

// hex reads n digits.
func hex(d []byte, n int) (rune, bool) {
	if len(d) < n {
		return 0, false
	}
	for _, c := range d[:n] {
		if c-'0' >= 10 && c|0x20-'a' >= 6 {
			return 0, false
		}
	}
	r, err := strconv.ParseUint(string(d[:n]), 16, 32)
	return rune(r), err == nil
}
