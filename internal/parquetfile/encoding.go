package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// padding is how many values a run may have beyond those that are counted: writers fill up
// whole groups of them.
const padding = 512

// hybrid reads n values of runs, of which some are packed and some repeat one value, and hands
// them to see with how often they come. The runs must hold these n values, and not more than
// padding after them.
func hybrid(data []byte, width, n int, see func(value uint32, times int) error) error {
	if width < 0 || width > 32 {
		return fmt.Errorf("values of %d bits, want at most 32", width)
	}
	left, extra := n, padding
	for len(data) > 0 {
		header, size := binary.Uvarint(data)
		if size <= 0 {
			return errors.New("a run without a length")
		}
		data = data[size:]
		packed := header&1 != 0
		count := header >> 1
		if count > uint64(left+extra) {
			return fmt.Errorf("more values than the %d that are counted", n)
		}
		if packed {
			if int(count)*width > len(data) {
				return errors.New("a packed run that is longer than its page")
			}
			count *= 8
		}
		if count > uint64(left+extra) {
			return fmt.Errorf("more values than the %d that are counted", n)
		}
		if count == 0 {
			continue
		}
		take := min(int(count), left)
		if packed {
			if err := unpackBits(data, width, take, see); err != nil {
				return err
			}
			data = data[int(count)/8*width:]
		} else {
			var word [4]byte
			size := (width + 7) / 8
			if size > len(data) {
				return errors.New("a run without its value")
			}
			copy(word[:], data[:size])
			data = data[size:]
			if take > 0 {
				if err := see(binary.LittleEndian.Uint32(word[:]), take); err != nil {
					return err
				}
			}
		}
		left, extra = left-take, extra-(int(count)-take)
	}
	if left > 0 {
		return fmt.Errorf("%d values too few", left)
	}
	return nil
}

// unpackBits hands on n values of that many bits.
func unpackBits(data []byte, width, n int, see func(value uint32, times int) error) error {
	var held uint64
	have, at := 0, 0
	mask := uint64(1)<<width - 1
	for range n {
		for have < width {
			held |= uint64(data[at]) << have
			have += 8
			at++
		}
		if err := see(uint32(held&mask), 1); err != nil {
			return err
		}
		held >>= width
		have -= width
	}
	return nil
}

// levels are those of a page: how many are as great as can be, and how many are 0.
type levels struct{ greatest, zero int }

func readLevels(data []byte, n, greatest int, first *uint32) (l levels, err error) {
	seen := false
	err = hybrid(data, bits.Len(uint(greatest)), n, func(v uint32, times int) error {
		if v > uint32(greatest) {
			return fmt.Errorf("a level of %d, where %d is the greatest", v, greatest)
		}
		if !seen {
			seen, *first = true, v
		}
		if v == 0 {
			l.zero += times
		}
		if v == uint32(greatest) {
			l.greatest += times
		}
		return nil
	})
	return l, err
}

// deltas passes over n numbers in DELTA_BINARY_PACKED and returns the bytes they take. Wide is
// the greatest number of bits of a difference. With see, it hands the numbers on.
func deltas(data []byte, n, wide int, see func(int64) error) (int, error) {
	rest := data
	varint := func() (uint64, error) {
		v, size := binary.Uvarint(rest)
		if size <= 0 {
			return 0, errors.New("numbers that end too early")
		}
		rest = rest[size:]
		return v, nil
	}
	var head [4]uint64 // values of a block, parts of a block, values, first value
	for i := range head {
		var err error
		if head[i], err = varint(); err != nil {
			return 0, err
		}
	}
	block, parts, total := head[0], head[1], head[2]
	switch {
	case block == 0 || block%128 != 0 || block > 1<<20 || parts == 0 || block%parts != 0 || block/parts%32 != 0:
		return 0, fmt.Errorf("blocks of %d values in %d parts", block, parts)
	case total != uint64(n):
		return 0, fmt.Errorf("%d numbers, %d are counted", total, n)
	}
	if n == 0 {
		return len(data) - len(rest), nil
	}
	value := unzigzag(head[3])
	if see != nil {
		if err := see(value); err != nil {
			return 0, err
		}
	}
	each := int(block / parts)
	for left := n - 1; left > 0; {
		least, err := varint()
		if err != nil {
			return 0, err
		}
		if uint64(len(rest)) < parts {
			return 0, errors.New("numbers that end too early")
		}
		widths := rest[:parts]
		rest = rest[parts:]
		for _, width := range widths {
			if left <= 0 {
				break
			}
			if int(width) > wide {
				return 0, fmt.Errorf("differences of %d bits, want at most %d", width, wide)
			}
			size := each / 8 * int(width)
			if size > len(rest) {
				return 0, errors.New("numbers that end too early")
			}
			take := min(each, left)
			if see != nil {
				if err := sumUp(rest[:size], int(width), take, &value, unzigzag(least), see); err != nil {
					return 0, err
				}
			}
			rest, left = rest[size:], left-take
		}
	}
	return len(data) - len(rest), nil
}

// sumUp adds n differences, each to the one number before, and hands on the numbers.
func sumUp(data []byte, width, n int, value *int64, least int64, see func(int64) error) error {
	if width > 32 {
		return fmt.Errorf("differences of %d bits between lengths", width)
	}
	return unpackBits(data, width, n, func(d uint32, _ int) error {
		*value += least + int64(d)
		return see(*value)
	})
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// values are those of one page.
type values struct {
	n       int // that are not null
	kind    format.Type
	width   int
	entries int   // of the dictionary, -1 for none
	room    int64 // bytes that they may take in memory
}

// oldDictionary is the encoding that files of version 1 state for indexes and for dictionaries.
const oldDictionary = format.Encoding(2)

// check passes over the values of a page in that encoding and fails unless all are there, and
// take no more room than there is.
func (v values) check(encoding format.Encoding, data []byte) error {
	switch encoding {
	case format.Plain:
		return v.plain(data)
	case oldDictionary, format.RLEDictionary:
		return v.indexes(data)
	case format.RLE:
		if v.kind != format.Boolean {
			break
		}
		if v.n == 0 && len(data) == 0 {
			return nil
		}
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return errors.New("runs that are longer than their page")
		}
		return hybrid(data[4:4+binary.LittleEndian.Uint32(data)], 1, v.n, func(uint32, int) error { return nil })
	case format.DeltaBinaryPacked:
		if v.kind != format.Int32 && v.kind != format.Int64 {
			break
		}
		if v.n == 0 && len(data) == 0 {
			return nil
		}
		_, err := deltas(data, v.n, 8*v.width, nil)
		return err
	case format.DeltaLengthByteArray:
		if v.kind != format.ByteArray {
			break
		}
		if v.n == 0 && len(data) == 0 {
			return nil
		}
		sum := int64(0)
		used, err := deltas(data, v.n, 32, func(length int64) error {
			if sum += length; length < 0 || sum > int64(len(data)) {
				return fmt.Errorf("a text of %d bytes", length)
			}
			return nil
		})
		if err == nil && sum > int64(len(data)-used) {
			err = errors.New("texts that are longer than their page")
		}
		return err
	case format.DeltaByteArray:
		if v.kind != format.ByteArray && v.kind != format.FixedLenByteArray {
			break
		}
		if v.n == 0 && len(data) == 0 {
			return nil
		}
		return v.prefixed(data)
	case format.ByteStreamSplit:
		if v.width == 0 {
			break
		}
		if len(data) != v.n*v.width {
			return fmt.Errorf("%d bytes for %d values of %d bytes", len(data), v.n, v.width)
		}
		return nil
	}
	return fmt.Errorf("the encoding %s, which is not read for values of type %s", encoding, v.kind)
}

func (v values) plain(data []byte) error {
	need := v.n * v.width
	switch v.kind {
	case format.Boolean:
		need = (v.n + 7) / 8
	case format.ByteArray:
		for i := range v.n {
			if len(data) < 4 {
				return fmt.Errorf("%d texts, %d are counted", i, v.n)
			}
			size := uint64(binary.LittleEndian.Uint32(data))
			if data = data[4:]; size > uint64(len(data)) {
				return errors.New("a text that is longer than its page")
			}
			data = data[size:]
		}
		if len(data) > 0 {
			return fmt.Errorf("%d bytes after the %d texts that are counted", len(data), v.n)
		}
		return nil
	}
	if len(data) < need {
		return fmt.Errorf("%d bytes for %d values, which take %d", len(data), v.n, need)
	}
	return nil
}

func (v values) indexes(data []byte) error {
	if v.entries < 0 {
		return errors.New("indexes into a dictionary that the column does not have")
	}
	if v.n == 0 && len(data) == 0 {
		return nil
	}
	if len(data) == 0 {
		return errors.New("no indexes")
	}
	return hybrid(data[1:], int(data[0]), v.n, func(i uint32, _ int) error {
		if uint64(i) >= uint64(v.entries) {
			return fmt.Errorf("an index of %d into a dictionary of %d values", i, v.entries)
		}
		return nil
	})
}

// prefixed checks texts of which each begins as the one before does, for a number of bytes.
func (v values) prefixed(data []byte) error {
	prefixes := make([]int64, 0, v.n)
	used, err := deltas(data, v.n, 32, func(length int64) error {
		prefixes = append(prefixes, length)
		return nil
	})
	if err != nil {
		return err
	}
	data = data[used:]
	var before, whole, suffixes int64
	i := 0
	used, err = deltas(data, v.n, 32, func(suffix int64) error {
		prefix := prefixes[i]
		i++
		if suffixes += suffix; suffix < 0 || prefix < 0 || prefix > before || suffixes > int64(len(data)) {
			return fmt.Errorf("a text of %d bytes of the one before and %d of its own", prefix, suffix)
		}
		before = prefix + suffix
		if v.width > 0 && before != int64(v.width) {
			return fmt.Errorf("a value of %d bytes, want %d", before, v.width)
		}
		if whole += before; whole > v.room {
			return errors.New("texts that take more memory than a page of this file may")
		}
		return nil
	})
	if err == nil && suffixes > int64(len(data)-used) {
		err = errors.New("texts that are longer than their page")
	}
	return err
}
