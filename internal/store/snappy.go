package store

import (
	"github.com/golang/snappy"
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
