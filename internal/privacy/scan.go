package privacy

import (
	"encoding/binary"
)

// rule finds one kind of private text by a word that stands in or beside it.
type rule struct {
	words []string // at least three bytes each, but for the single bytes @ and %

	// raw rules read the text of a record as it was written, escapes and all. The others
	// want plain text: in a record, a word that passes hint has its string decoded.
	raw  bool
	hint func(d []byte, i int) bool

	// find looks around the word at i of the text, and replaces what it finds or learns a
	// name.
	find func(s *scrubber, i int)
}

// entry is a word whose bytes at off and off+1 are one pair.
type entry struct {
	word string
	off  int
	rule *rule
}

// index leads from a pair of bytes, the earlier one in the low half, to the words that have
// it. Of each word two pairs are there, one behind the other, so that one of them is met by
// who looks at every second pair.
type index struct {
	any     [1 << 16]uint8  // 1 for pairs of a word
	group   [1 << 16]uint16 // 0 for none
	entries [][]entry

	// triples has a bit for the hash of each three bytes that the pairs of a word make, and
	// for each that begins or ends in a pair of @ or %: it says no quickly.
	triples [1 << 10]uint64
}

func newIndex(rules []rule) *index {
	x := &index{entries: make([][]entry, 1)}
	for i := range rules {
		r := &rules[i]
		for _, w := range r.words {
			if len(w) == 1 {
				for c := range 256 {
					x.add(uint16(c)|uint16(w[0])<<8, entry{w, -1, r})
					if isWord(byte(c)) || c == '"' || c == '\\' {
						x.add(uint16(w[0])|uint16(c)<<8, entry{w, 0, r})
					}
				}
				continue
			}
			at := x.rarest(w)
			x.mark(w[at], w[at+1], w[at+2])
			for off := at; off < at+2; off++ {
				x.add(uint16(w[off])|uint16(w[off+1])<<8, entry{w, off, r})
			}
		}
	}
	return x
}

func hash(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> 16
}

func (x *index) mark(a, b, c byte) {
	h := hash(a, b, c)
	x.triples[h>>6] |= 1 << (h & 63)
}

func (x *index) marked(a, b, c byte) bool {
	h := hash(a, b, c)
	return x.triples[h>>6]>>(h&63)&1 != 0
}

func (x *index) add(pair uint16, e entry) {
	if x.group[pair] == 0 {
		x.any[pair], x.group[pair] = 1, uint16(len(x.entries))
		x.entries = append(x.entries, nil)
	}
	g := x.group[pair]
	x.entries[g] = append(x.entries[g], e)
}

// rarest returns where in a word the three bytes begin whose pairs are the rarest in texts.
// Pairs that are looked for already cost nothing.
func (x *index) rarest(word string) int {
	best, least := 0, 1<<62
	for i := 0; i+3 <= len(word); i++ {
		if n := x.often(word[i:i+2]) + x.often(word[i+1:i+3]); n < least {
			best, least = i, n
		}
	}
	return best
}

// commonPairs are the pairs that logs are full of, the most frequent first.
const commonPairs = `  \n "in: ren stonese te":enset cos ater t, de ilethorntastitoannsetheroelis ang sn\io ` + "`" + `aledt_d it cta\"",ndprmpom.\arpy` + "``" + `odtreafiutmene feclike_tcts"cess` + "`" + ` gee_ rllouramariokilplf nc"c n {r exurchnits.p oulo s.t" dlsam:\ }n` + "`" + `siy )\haca wlaol 0_closhacuevepeot= aina==usdi m =hofo pie__ b esoimpt..s_e"poidmopaifldsutu"reficg os_iba 1oorslfem0,unup_d--s/rtnornbe/tagnf\t le.epmi \ Inurr. spopckl d_gon_t.00a vi (hisa_r 'tp` + "`" + `.day\igf.},_sclvaoc"ulupuwi_fad_p -abh rmobI  ufem "iaucrjary.0# apblltm_oglyrutte,nIdj 2owty\do"\0.Noxtr\ h_apsqudul,iruco_n"ee"aewfat():>\ibs\e\"tytl_"pyo_m.cumaymmppsce`

// often says how often a pair of bytes stands in logs: 1 for hardly ever.
func (x *index) often(pair string) int {
	if x.any[uint16(pair[0])|uint16(pair[1])<<8] != 0 {
		return 0
	}
	for i := 0; i+1 < len(commonPairs); i += 2 {
		if commonPairs[i:i+2] == pair {
			return 4 + (len(commonPairs)-i)/4
		}
	}
	return 1
}

// scan calls try for every place of a word of the rules.
func (x *index) scan(d []byte, try func(e *entry, at int)) {
	i := 0
	for ; i+8 <= len(d); i += 8 {
		v := binary.LittleEndian.Uint64(d[i:])
		if x.any[uint16(v)]|x.any[uint16(v>>16)]|x.any[uint16(v>>32)]|x.any[uint16(v>>48)] == 0 {
			continue
		}
		for j := i; j < i+8; j += 2 {
			if g := x.group[uint16(v)]; g != 0 && x.near(d, j) {
				x.match(d, j, g, try)
			}
			v >>= 16
		}
	}
	for ; i+1 < len(d); i += 2 {
		if g := x.group[uint16(d[i])|uint16(d[i+1])<<8]; g != 0 && x.near(d, i) {
			x.match(d, i, g, try)
		}
	}
}

// near reports whether the pair at i may be that of a word by the bytes on its sides.
func (x *index) near(d []byte, i int) bool {
	switch d[i] {
	case '@', '%', '~':
		return true
	}
	switch d[i+1] {
	case '@', '%', '~':
		return true
	}
	return i > 0 && x.marked(d[i-1], d[i], d[i+1]) || i+2 < len(d) && x.marked(d[i], d[i+1], d[i+2])
}

func (x *index) match(d []byte, i int, group uint16, try func(e *entry, at int)) {
	for j := range x.entries[group] {
		e := &x.entries[group][j]
		if e.off < 0 { // the second byte of the pair is the word
			try(e, i+1)
			continue
		}
		at := i - e.off
		if at >= 0 && len(d)-at >= len(e.word) && string(d[at:at+len(e.word)]) == e.word {
			try(e, at)
		}
	}
}
