package parquetfile

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// mostDigits of a DECIMAL after the point; common engines stop at 38 or 76.
const mostDigits = 1000

// Decimal writes a DECIMAL with all its digits, whatever type of value it is kept in.
func Decimal(v parquet.Value, scale int32) (string, error) {
	if scale < 0 || scale > mostDigits {
		return "", fmt.Errorf("a DECIMAL with %d digits after the point; from 0 to %d are read", scale, mostDigits)
	}
	var text string
	switch v.Kind() {
	case parquet.Int32:
		text = strconv.FormatInt(int64(v.Int32()), 10)
	case parquet.Int64:
		text = strconv.FormatInt(v.Int64(), 10)
	case parquet.ByteArray, parquet.FixedLenByteArray:
		b := v.ByteArray() // two's complement, the greatest byte first
		if len(b) > mostDigits {
			return "", fmt.Errorf("a DECIMAL of %d bytes; at most %d are read", len(b), mostDigits)
		}
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		text = n.String()
	default:
		return "", fmt.Errorf("a DECIMAL of type %s", v.Kind())
	}
	if scale == 0 {
		return text, nil
	}
	digits, negative := strings.CutPrefix(text, "-")
	if missing := int(scale) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	text = digits[:len(digits)-int(scale)] + "." + digits[len(digits)-int(scale):]
	if negative {
		text = "-" + text
	}
	return text, nil
}
