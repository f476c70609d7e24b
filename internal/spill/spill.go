package spill

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/agentlens-bench/agentlens/internal/output"
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

	f   *output.Spill
	mu  sync.Mutex
	end int64
}

// Create makes an empty spill file on the file system of a folder, "" for the system's folder
// for temporary files.
func Create(dir string) (*File, error) {
	f, err := output.NewSpill(dir)
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
		return Ref{}, fmt.Errorf("store trajectory %s: %w", t.ID, s.f.Failed(err))
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

// Close removes the file.
func (s *File) Close() error { return s.f.Close() }
