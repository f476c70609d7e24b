package embedding

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// cacheVersion changes with the table.
const cacheVersion = 1

// digest identifies a text.
type digest = [sha256.Size]byte

// cache keeps vectors by model and text digest in a SQLite file. A batch is stored whole or
// not at all, whatever kills the process. Several processes may share the file.
type cache struct {
	db   *sql.DB
	path string
}

func openCache(path string) (*cache, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("embeddings cache: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return nil, fmt.Errorf("embeddings cache: %w", err)
	}
	uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs),
		RawQuery: "_pragma=busy_timeout(30000)&_txlock=immediate"}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, fmt.Errorf("embeddings cache: %w", err)
	}
	db.SetMaxOpenConns(1)
	c := &cache{db, path}
	if err := c.prepare(); err != nil {
		db.Close()
		return nil, fmt.Errorf("embeddings cache %s: %w; delete the file, or name another one", path, err)
	}
	return c, nil
}

func (c *cache) prepare() error {
	var version int
	if err := c.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != 0 && version != cacheVersion {
		return fmt.Errorf("version %d of the cache, this program knows version %d", version, cacheVersion)
	}
	_, err := c.db.Exec(fmt.Sprintf(`
		CREATE TABLE IF NOT EXISTS vectors (
			model TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
			PRIMARY KEY (model, digest)) STRICT;
		PRAGMA user_version = %d`, cacheVersion))
	return err
}

// get returns the vectors that are stored. A damaged one counts as absent.
func (c *cache) get(ctx context.Context, model string, digests []digest) (map[digest][]float64, error) {
	out := make(map[digest][]float64, len(digests))
	stmt, err := c.db.PrepareContext(ctx, "SELECT vector FROM vectors WHERE model = ? AND digest = ?")
	if err != nil {
		return nil, fmt.Errorf("embeddings cache %s: %w", c.path, err)
	}
	defer stmt.Close()
	for _, d := range digests {
		var blob []byte
		switch err := stmt.QueryRowContext(ctx, model, d[:]).Scan(&blob); err {
		case nil:
			if v := decode(blob); v != nil {
				out[d] = v
			}
		case sql.ErrNoRows:
		default:
			return nil, fmt.Errorf("embeddings cache %s: %w", c.path, err)
		}
	}
	return out, nil
}

// put stores vectors. One that is stored already, by another process meanwhile, stays.
func (c *cache) put(ctx context.Context, model string, digests []digest, vectors [][]float32) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("embeddings cache %s: %w", c.path, err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	for i, d := range digests {
		blob := encode(vectors[i])
		_, err := tx.ExecContext(ctx, `INSERT INTO vectors VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET vector = excluded.vector WHERE length(vector) <> length(excluded.vector)`, model, d[:], blob)
		if err != nil {
			return fmt.Errorf("embeddings cache %s: %w", c.path, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("embeddings cache %s: %w", c.path, err)
	}
	return nil
}

func (c *cache) close() error { return c.db.Close() }

// encode writes the components as little-endian float32, which is what models compute in.
func encode(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// decode returns nil for what encode never writes for a sound vector.
func decode(blob []byte) []float64 {
	if len(blob) == 0 || len(blob)%4 != 0 {
		return nil
	}
	out := make([]float64, len(blob)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:])))
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil
		}
	}
	return out
}
