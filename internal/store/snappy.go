package store

import (
	"github.com/golang/snappy"
	"github.com/klauspost/compress/s2"
	parquetsnappy "github.com/parquet-go/parquet-go/compress/snappy"
)

// snappyCodec is Parquet's snappy with an encoder whose output does not depend on the
// processor: the one that parquet-go uses has assembly that finds other matches than its
// portable code.
type snappyCodec struct{ parquetsnappy.Codec }

// Encode appends nothing: like the codec it stands for, it uses dst as scratch space.
func (*snappyCodec) Encode(dst, src []byte) ([]byte, error) {
	return snappy.Encode(dst[:cap(dst)], src), nil
}

// tightSnappyCodec is Parquet's snappy with an encoder that looks longer for matches, which has
// no assembly either.
type tightSnappyCodec struct{ parquetsnappy.Codec }

func (*tightSnappyCodec) Encode(dst, src []byte) ([]byte, error) {
	return s2.EncodeSnappyBest(dst[:cap(dst)], src), nil
}
