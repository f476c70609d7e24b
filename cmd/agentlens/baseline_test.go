package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// An embeddings server that fails now and then gives the same table with any number of
// workers, and a second run asks it nothing.
func TestDenseByEndpoint(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1)%5 == 2 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "busy", http.StatusTooManyRequests)
			return
		}
		if r.Header.Get("Authorization") != "Bearer sk-secret" {
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type datum struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		}
		var data []datum
		for i, text := range in.Input {
			v := make([]float64, 8)
			for j, c := range []byte(text) {
				v[(int(c)+j)%8]++
			}
			data = append(data, datum{i, v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	defer server.Close()
	t.Setenv(endpointVariable, server.URL+"/v1")
	t.Setenv(keyVariable, "sk-secret")
	dir := t.TempDir()
	dense := func(cache string, args ...string) (string, string) {
		var out, errs bytes.Buffer
		args = append([]string{"baseline", "dense", "--resamples", "20", "--model", "m", "--batch", "2000", "--cache", filepath.Join(dir, cache)}, args...)
		if code := run(context.Background(), args, &out, &errs); code != exitOK {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		return out.String(), errs.String()
	}
	first, usage := dense("a.db", "--jobs", "4")
	if !strings.Contains(first, "baseline dense, m, best of 5 references") || strings.Contains(usage, ", 0 embedded") {
		t.Errorf("%s%s", first, usage)
	}
	n := calls.Load()
	second, usage := dense("a.db", "--jobs", "1")
	if second != first || calls.Load() != n || !strings.Contains(usage, ", 0 embedded in 0 requests") {
		t.Errorf("%d more requests; %s%s", calls.Load()-n, usage, second)
	}
	if fresh, _ := dense("b.db", "--jobs", "1"); fresh != first {
		t.Errorf("another cache gives another table:\n%s\n%s", fresh, first)
	}

	t.Setenv(keyVariable, "sk-wrong")
	var out, errs bytes.Buffer
	args := []string{"baseline", "dense", "--model", "m", "--cache", filepath.Join(dir, "c.db")}
	if code := run(context.Background(), args, &out, &errs); code != exitFailure ||
		!strings.Contains(errs.String(), fmt.Sprintf("embeddings from %s/v1/embeddings: status 401", server.URL)) || strings.Contains(errs.String(), "sk-wrong") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
