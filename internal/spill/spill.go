package spill

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Ref finds a trajectory in a File.
type Ref struct {
	offset int64
	length int64
}

// File is an append-only file of compressed trajectories.
type File struct {
	// Texts says that Prompt, Closing and Response of trajectories are stored, too. It is set
	// before the first Append.
	Texts bool

	f   *os.File
	mu  sync.Mutex
	end int64
}

// Create makes an empty spill file at path, which must not exist.
func Create(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &File{f: f}, nil
}

// Append stores t. It fails when the disk is full.
func (s *File) Append(t *trajectory.Trajectory) (Ref, error) {
	packed := s2.Encode(nil, encode(t, s.Texts))
	s.mu.Lock()
	ref := Ref{offset: s.end, length: int64(len(packed))}
	s.end += ref.length
	s.mu.Unlock()
	if _, err := s.f.WriteAt(packed, ref.offset); err != nil {
		return Ref{}, fmt.Errorf("store trajectory %s: %w", t.ID, err)
	}
	return ref, nil
}

// Load reads a trajectory back.
func (s *File) Load(ref Ref) (*trajectory.Trajectory, error) {
	packed := make([]byte, ref.length)
	if _, err := s.f.ReadAt(packed, ref.offset); err != nil {
		return nil, fmt.Errorf("read back a stored trajectory: %w", err)
	}
	raw, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, fmt.Errorf("read back a stored trajectory: %w", err)
	}
	return decode(raw, s.Texts)
}

// Close closes and removes the file.
func (s *File) Close() error {
	return errors.Join(s.f.Close(), os.Remove(s.f.Name()))
}
