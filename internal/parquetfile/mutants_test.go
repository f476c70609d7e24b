package parquetfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/agentlens-bench/agentlens/internal/parquetfile"
)

type call struct {
	ID        string  `parquet:"id"`
	Arguments *string `parquet:"arguments,optional"`
}

type message struct {
	Role    string  `parquet:"role,dict"`
	Content *string `parquet:"content,optional"`
	Calls   []call  `parquet:"calls,list"`
}

// row has a column of every type and encoding that the library writes.
type row struct {
	ID       string            `parquet:"id,delta"`
	Step     int64             `parquet:"step,delta"`
	Small    int32             `parquet:"small,delta"`
	Plain    int64             `parquet:"plain_number,plain"`
	Score    float64           `parquet:"score,split"`
	Ratio    *float32          `parquet:"ratio,optional"`
	Ok       bool              `parquet:"ok"`
	Maybe    *bool             `parquet:"maybe,optional"`
	Tool     *string           `parquet:"tool,optional,dict"`
	Count    uint64            `parquet:"count,dict"`
	Text     string            `parquet:"text,plain"`
	Price    int64             `parquet:"price,decimal(2:18)"`
	Digest   [16]byte          `parquet:"digest,uuid"`
	Tags     []string          `parquet:"tags,list"`
	Numbers  []int32           `parquet:"numbers"`
	Messages []message         `parquet:"messages,list"`
	Labels   map[string]string `parquet:"labels"`
}

func someRows(n int) []row {
	rows := make([]row, n)
	for i := range rows {
		tool, half, yes := fmt.Sprintf("tool %d", i%3), float32(i)/2, i%2 == 0
		r := row{
			ID: fmt.Sprintf("run-%03d", i), Step: int64(i), Small: int32(7 * i), Plain: int64(i) << 40, Score: float64(i) / 3, Ok: yes,
			Count: uint64(i % 4), Text: strings.Repeat("text ", i%9), Price: int64(i) * 99, Digest: [16]byte{byte(i)},
			Tags: strings.Fields(strings.Repeat("tag ", i%3)), Numbers: make([]int32, i%4),
		}
		if i%3 > 0 {
			r.Ratio, r.Maybe, r.Tool = &half, &yes, &tool
		}
		for range i % 4 {
			r.Messages = append(r.Messages, message{Role: "user", Content: r.Tool, Calls: make([]call, i%2)})
		}
		if i%5 == 0 {
			r.Labels = map[string]string{"k": "v"}
		}
		rows[i] = r
	}
	return rows
}

func write(t testing.TB, rows []row, options ...parquet.WriterOption) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[row](&buf, options...)
	for i := 0; i < len(rows); i += 60 { // several row groups
		if _, err := w.Write(rows[i:min(i+60, len(rows))]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func codecs() map[string]compress.Codec {
	return map[string]compress.Codec{
		"plain": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "brotli": &parquet.Brotli, "zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw,
	}
}

// corpus are valid files of every codec and both forms of pages, by name.
func corpus(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	for name, codec := range codecs() {
		for version := 1; version <= 2; version++ {
			files[fmt.Sprintf("%s v%d", name, version)] = write(t, someRows(100), parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(400))
		}
	}
	return files
}

// readAll reads a file in each way there is. Of rows it returns how many there were.
func readAll(data []byte) (rows int64, err error) {
	f, err := parquetfile.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	for g := range f.RowGroups() {
		n, err := readGroup(f, g)
		if err != nil {
			return rows, err
		}
		if rows += n; n != f.RowsOf(g) {
			return rows, fmt.Errorf("a group of %d rows gave %d without an error", f.RowsOf(g), n)
		}
	}
	for _, err := range parquetfile.Read[row](f) {
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func readGroup(f *parquetfile.File, g int) (n int64, err error) {
	r, err := f.Rows(g)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	buf := make([]parquet.Row, 16)
	for {
		got, err := r.Read(buf)
		n += int64(got)
		if err == io.EOF {
			break
		}
		if err != nil {
			return n, err
		}
	}
	for i := range f.Schema().Columns() {
		c, err := f.Column(g, i)
		if err != nil {
			return n, err
		}
		var values []parquet.Value
		for err == nil {
			values, err = c.Page(values, false)
		}
		if cerr := c.Close(); err != io.EOF || cerr != nil {
			return n, err
		}
	}
	return n, nil
}

func TestWhole(t *testing.T) {
	for name, data := range corpus(t) {
		if n, err := readAll(data); err != nil || n != 100 {
			t.Errorf("%s: %d rows, %v", name, n, err)
		}
		got, _ := parquetfile.Open(bytes.NewReader(data), int64(len(data)))
		i, rows := 0, someRows(100)
		for r, err := range parquetfile.Read[row](got) {
			if err != nil {
				t.Fatal(err)
			}
			if want := rows[i]; fmt.Sprint(r.ID, r.Step, r.Score, r.Text, r.Price, len(r.Tags), len(r.Numbers), len(r.Messages), r.Labels["k"]) !=
				fmt.Sprint(want.ID, want.Step, want.Score, want.Text, want.Price, len(want.Tags), len(want.Numbers), len(want.Messages), want.Labels["k"]) {
				t.Errorf("%s: row %d: %+v, want %+v", name, i, r, want)
			}
			i++
		}
	}
}

// mutant changes a file in one way that damage or malice would.
func mutant(r *rand.Rand, whole []byte) []byte {
	data := bytes.Clone(whole)
	footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	at := r.IntN(len(data))
	if r.IntN(3) == 0 { // the footer decides most
		at = footer + r.IntN(len(data)-footer)
	}
	switch r.IntN(7) {
	case 0:
		data[at] ^= 1 << r.IntN(8)
	case 1:
		data[at] = byte(r.IntN(256))
	case 2: // numbers that are huge
		for i := at; i < min(at+1+r.IntN(9), len(data)); i++ {
			data[i] |= 0x80 | byte(r.IntN(128))
		}
	case 3:
		data[at] = [...]byte{0, 0xff, 0x7f, 0x80, 1}[r.IntN(5)]
	case 4: // bytes are missing or too many, with a footer of the right length
		n := min(1+r.IntN(20), footer-4)
		if at = min(at, footer-n); at < 4 {
			at = 4
		}
		if r.IntN(2) == 0 {
			return append(data[:at:at], data[at+n:]...)
		}
		return append(append(data[:at:at], make([]byte, n)...), data[at:]...)
	case 5: // a stretch from elsewhere
		n := min(1+r.IntN(40), len(data)-at)
		from := r.IntN(len(data) - n + 1)
		copy(data[at:at+n], whole[from:])
	case 6: // many changes
		for range 1 + r.IntN(30) {
			data[r.IntN(len(data))] ^= byte(r.IntN(256))
		}
	}
	return data
}

// wordsOfGo must not reach people.
func wordsOfGo(s string) bool {
	for _, word := range []string{"runtime error", "%!", "goroutine", "strconv", "0xc0", "panic", "reflect"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// Whatever happens to a file, it is read or refused, in little memory. AGENTLENS_MUTANTS says
// how many to try, where more than usual are wanted.
func TestMutants(t *testing.T) {
	each := 80
	files := corpus(t)
	if n, err := strconv.Atoi(os.Getenv("AGENTLENS_MUTANTS")); err == nil {
		each = n / len(files)
	}
	var refused, read int
	for name, whole := range files {
		r := rand.New(rand.NewPCG(1, uint64(len(whole))))
		for i := range each {
			data := mutant(r, whole)
			var before, after runtime.MemStats
			if i%16 == 0 {
				runtime.ReadMemStats(&before)
			}
			_, err := readAll(data)
			if i%16 == 0 {
				if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 100<<20 {
					t.Errorf("%s, mutant %d: took %d MiB", name, i, (after.TotalAlloc-before.TotalAlloc)>>20)
				}
			}
			if err == nil {
				read++
				continue
			}
			refused++
			if wordsOfGo(err.Error()) {
				t.Errorf("%s, mutant %d: %v", name, i, err)
			}
		}
	}
	if refused < read/10 {
		t.Errorf("of all mutants only %d were refused, %d read", refused, read)
	}
	t.Logf("%d mutants: %d refused, %d read", refused+read, refused, read)
}

// Bytes all over a small file, each changed in a way of its own.
func TestBytes(t *testing.T) {
	for _, version := range []int{1, 2} {
		whole := write(t, someRows(7), parquet.DataPageVersion(version))
		for at := version; at < len(whole); at += 11 {
			data := bytes.Clone(whole)
			data[at] ^= [...]byte{0xff, 0x80, 0x01, 0x20}[at%4]
			if _, err := readAll(data); err != nil && wordsOfGo(err.Error()) {
				t.Errorf("byte %d: %v", at, err)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, data := range corpus(f) {
		f.Add(data)
	}
	given, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range given {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := readAll(data); err != nil && wordsOfGo(err.Error()) {
			t.Error(err)
		}
	})
}
