package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

var errUnpack = errors.New("can't be unpacked to the bytes its header counts")

// expands is how many times its size packed data can have unpacked at most, 0 where the codec
// sets no such bound.
func expands(c format.CompressionCodec) int64 {
	switch c {
	case format.Uncompressed:
		return 1
	case format.Snappy:
		return 32
	case format.Lz4Raw, lz4Framed:
		return 256
	case format.Gzip:
		return 1040
	}
	return 0
}

// lz4Framed is LZ4 as it was before LZ4_RAW: blocks with their sizes as Hadoop frames them, or
// one bare block.
const lz4Framed = format.CompressionCodec(5)

func supported(c format.CompressionCodec) bool {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw, lz4Framed:
		return true
	}
	return false
}

// unpack fills dst with what src holds: exactly that, neither more nor less.
func unpack(c format.CompressionCodec, dst, src []byte) error {
	if len(src) == 0 && len(dst) == 0 {
		return nil
	}
	switch c {
	case format.Uncompressed:
		if copy(dst, src) != len(src) || len(src) != len(dst) {
			return errUnpack
		}
		return nil
	case format.Snappy:
		if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
			return errUnpack
		}
		if _, err := snappy.Decode(dst, src); err != nil {
			return errUnpack
		}
		return nil
	case format.Lz4Raw:
		return unpackLZ4(dst, src)
	case lz4Framed:
		if unpackHadoop(dst, src) == nil {
			return nil
		}
		return unpackLZ4(dst, src)
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return errUnpack
		}
		return fill(dst, r)
	case format.Brotli:
		return fill(dst, brotli.NewReader(bytes.NewReader(src)))
	case format.Zstd:
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
		defer r.Close()
		out, err := r.DecodeAll(src, dst[:0:len(dst)])
		if err != nil || len(out) != len(dst) {
			return errUnpack
		}
		return nil
	}
	return errUnpack
}

// fill reads exactly dst.
func fill(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return errUnpack
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 || err != io.EOF {
		return errUnpack
	}
	return nil
}

func unpackLZ4(dst, src []byte) error {
	if n, err := lz4.UncompressBlock(src, dst); err != nil || n != len(dst) {
		return errUnpack
	}
	return nil
}

// unpackHadoop reads blocks that each follow their size unpacked and, once or several times,
// their size packed.
func unpackHadoop(dst, src []byte) error {
	for len(src) > 0 {
		if len(src) < 8 {
			return errUnpack
		}
		whole := int64(binary.BigEndian.Uint32(src))
		src = src[4:]
		if whole > int64(len(dst)) {
			return errUnpack
		}
		for whole > 0 {
			if len(src) < 4 {
				return errUnpack
			}
			packed := int64(binary.BigEndian.Uint32(src))
			if src = src[4:]; packed > int64(len(src)) {
				return errUnpack
			}
			n, err := lz4.UncompressBlock(src[:packed], dst[:whole])
			if err != nil || n == 0 {
				return errUnpack
			}
			src, dst, whole = src[packed:], dst[n:], whole-int64(n)
		}
	}
	if len(dst) > 0 {
		return errUnpack
	}
	return nil
}
