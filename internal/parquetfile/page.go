package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

const (
	usualHeader   = 256 // bytes that are read for the header of a page at first
	largestHeader = 16 << 20
	headerLists   = 64 // elements of lists in a page's header
)

// page is a page of the file and its place in the view.
type page struct {
	header  format.PageHeader
	at      int64 // of its packed bytes in the file
	packed  int
	size    int    // unpacked
	entries int    // of a dictionary page, else -1
	values  int    // of a data page, nulls included
	first   int64  // row it begins with, in a column without lists
	head    []byte // its header in the view
	offset  int64  // of head in the view; the unpacked bytes follow
}

func (p *page) dictionary() bool { return p.entries >= 0 }

func (p *page) end() int64 { return p.offset + int64(len(p.head)) + int64(p.size) }

// cost is the memory that reading the page takes: its bytes here and in the library, and what
// the library keeps of each value.
func (p *page) cost() int64 { return 2*int64(p.size) + 16*int64(max(p.values, p.entries)) }

// pagesOf reads the headers of a column's pages, up to the values that the footer counts.
func pagesOf(r io.ReaderAt, d *format.ColumnMetaData, l *leaf) ([]page, error) {
	at, end := extent(d)
	var out []page
	var values int64
	for values < d.NumValues {
		p, next, err := readPage(r, at, end, d.Codec)
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", len(out)+1, err)
		}
		at = next
		switch {
		case p.dictionary() && len(out) > 0:
			return nil, fmt.Errorf("page %d: a dictionary that is not the first page", len(out)+1)
		case p.header.Type == format.IndexPage:
			continue
		}
		p.first = values
		values += int64(p.values)
		out = append(out, p)
	}
	if values != d.NumValues {
		return nil, fmt.Errorf("its pages have %d values, the footer counts %d", values, d.NumValues)
	}
	return out, nil
}

// readPage reads the header of the page at a place in the file.
func readPage(r io.ReaderAt, at, end int64, codec format.CompressionCodec) (p page, next int64, err error) {
	var buf [usualHeader]byte
	text := buf[:]
	n := 0
	for {
		if int64(len(text)) > end-at {
			text = text[:max(end-at, 0)]
		}
		if err := readFull(r, text, at); err != nil {
			return p, 0, err
		}
		if n, err = measure(text, headerLists); err == nil {
			break
		}
		if !errors.Is(err, errShort) || int64(len(text)) == end-at || len(text) >= largestHeader {
			return p, 0, fmt.Errorf("its header %w", err)
		}
		text = make([]byte, 8*len(text))
	}
	h := &p.header
	if err := unmarshal(text[:n], h); err != nil {
		return p, 0, fmt.Errorf("its header %w", errMalformed)
	}
	p.at, p.packed, p.size, p.entries = at+int64(n), int(h.CompressedPageSize), int(h.UncompressedPageSize), -1
	if p.packed < 0 || int64(p.packed) > end-p.at {
		return p, 0, fmt.Errorf("it takes %d bytes, its column has %d left", p.packed, end-p.at)
	}
	next = p.at + int64(p.packed)
	most := expands(codec)
	if p.size < 0 || most > 0 && int64(p.size) > most*int64(p.packed)+64 {
		return p, 0, fmt.Errorf("its %d bytes are to be %d unpacked, which can't be", p.packed, p.size)
	}
	switch h.Type {
	case format.DictionaryPage:
		d := &h.DictionaryPageHeader
		if p.entries = int(d.V.NumValues); !d.Valid || p.entries < 0 || p.entries > 8*p.size {
			return p, 0, fmt.Errorf("a dictionary of %d values in %d bytes", d.V.NumValues, p.size)
		}
	case format.DataPage:
		d := &h.DataPageHeader
		if p.values = int(d.V.NumValues); !d.Valid || p.values < 0 {
			return p, 0, fmt.Errorf("%d values", d.V.NumValues)
		}
		d.V.Statistics = format.Statistics{}
	case format.DataPageV2:
		d := &h.DataPageHeaderV2
		if p.values = int(d.V.NumValues); !d.Valid || p.values < 0 || d.V.NumNulls < 0 || d.V.NumNulls > d.V.NumValues || d.V.NumRows < 0 || d.V.NumRows > d.V.NumValues {
			return p, 0, fmt.Errorf("%d values, %d nulls and %d rows", d.V.NumValues, d.V.NumNulls, d.V.NumRows)
		}
		if d.V.DefinitionLevelsByteLength < 0 || d.V.RepetitionLevelsByteLength < 0 || levelBytes(h) > min(p.packed, p.size) {
			return p, 0, errors.New("levels that are longer than their page")
		}
		d.V.Statistics = format.Statistics{}
	case format.IndexPage:
	default:
		return p, 0, fmt.Errorf("a page of type %d, which is not known", int32(h.Type))
	}
	return p, next, nil
}

// levelBytes are those of the levels of a page of the second version, which are not packed.
func levelBytes(h *format.PageHeader) int {
	return int(h.DataPageHeaderV2.V.DefinitionLevelsByteLength) + int(h.DataPageHeaderV2.V.RepetitionLevelsByteLength)
}

// place writes the page's header for the view, in which nothing is packed.
func (p *page) place(offset int64) error {
	h := p.header
	h.CompressedPageSize, h.CRC = h.UncompressedPageSize, 0
	if h.DataPageHeaderV2.Valid {
		h.DataPageHeaderV2.V.IsCompressed.V, h.DataPageHeaderV2.V.IsCompressed.Valid = false, true
	}
	var err error
	p.head, err = marshal(&h)
	p.offset = offset
	return err
}

// open reads, unpacks and checks the page. Room is the memory its values may take.
func (p *page) open(r io.ReaderAt, codec format.CompressionCodec, l *leaf, entries int, room int64) ([]byte, int, error) {
	packed := make([]byte, p.packed)
	if err := readFull(r, packed, p.at); err != nil {
		return nil, 0, err
	}
	if p.header.CRC != 0 && crc32.ChecksumIEEE(packed) != uint32(p.header.CRC) {
		return nil, 0, errors.New("its checksum is another")
	}
	plain := 0
	if p.header.DataPageHeaderV2.Valid && p.header.Type == format.DataPageV2 {
		plain = levelBytes(&p.header)
		if c := p.header.DataPageHeaderV2.V.IsCompressed; c.Valid && !c.V {
			codec = format.Uncompressed
		}
	}
	body := packed
	if codec != format.Uncompressed || p.size != p.packed {
		body = make([]byte, p.size)
		copy(body, packed[:plain])
		if err := unpack(codec, body[plain:], packed[plain:]); err != nil {
			return nil, 0, fmt.Errorf("its data %w", err)
		}
	}
	rows, err := p.check(body, l, entries, room)
	return body, rows, err
}

// check passes over what the page holds, and counts the rows that begin in it.
func (p *page) check(body []byte, l *leaf, entries int, room int64) (rows int, err error) {
	v := values{kind: l.kind, width: l.width, entries: entries, room: room}
	if p.dictionary() {
		encoding := p.header.DictionaryPageHeader.V.Encoding
		if encoding == oldDictionary {
			encoding = format.Plain
		}
		if encoding != format.Plain {
			return 0, fmt.Errorf("a dictionary in the encoding %s", encoding)
		}
		v.n = p.entries
		return 0, v.plain(body)
	}
	var repetition, definition []byte
	var encoding format.Encoding
	nulls := -1
	if p.header.Type == format.DataPageV2 {
		h := &p.header.DataPageHeaderV2.V
		repetition, body = body[:h.RepetitionLevelsByteLength], body[h.RepetitionLevelsByteLength:]
		definition, body = body[:h.DefinitionLevelsByteLength], body[h.DefinitionLevelsByteLength:]
		encoding, nulls = h.Encoding, int(h.NumNulls)
	} else {
		h := &p.header.DataPageHeader.V
		encoding = h.Encoding
		if l.rep > 0 {
			if repetition, body, err = cutLevels(body, h.RepetitionLevelEncoding); err != nil {
				return 0, err
			}
		}
		if l.def > 0 {
			if definition, body, err = cutLevels(body, h.DefinitionLevelEncoding); err != nil {
				return 0, err
			}
		}
	}
	v.n, rows = p.values, p.values
	var first uint32
	if l.rep > 0 {
		found, err := readLevels(repetition, p.values, l.rep, &first)
		if err != nil {
			return 0, fmt.Errorf("repetition levels with %w", err)
		}
		if first != 0 && (p.first == 0 || nulls >= 0) {
			return 0, errors.New("it begins within a row")
		}
		rows = found.zero
	}
	if l.def > 0 {
		found, err := readLevels(definition, p.values, l.def, &first)
		if err != nil {
			return 0, fmt.Errorf("definition levels with %w", err)
		}
		v.n = found.greatest
	}
	if nulls >= 0 && nulls != p.values-v.n {
		return 0, fmt.Errorf("%d nulls, its header counts %d", p.values-v.n, nulls)
	}
	if err := v.check(encoding, body); err != nil {
		return 0, fmt.Errorf("it has %w", err)
	}
	return rows, nil
}

// cutLevels takes the levels from the start of a page of the first version.
func cutLevels(body []byte, encoding format.Encoding) (levels, rest []byte, err error) {
	if encoding != format.RLE {
		return nil, nil, fmt.Errorf("levels in the encoding %s, which is not read", encoding)
	}
	if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
		return nil, nil, errors.New("levels that are longer than their page")
	}
	n := 4 + int(binary.LittleEndian.Uint32(body))
	return body[4:n], body[n:], nil
}
