package output

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const childVariable = "OUTPUT_TEST_PARENT"

// TestMain is also the process that is killed: it makes a folder, says which, and waits.
func TestMain(m *testing.M) {
	parent := os.Getenv(childVariable)
	if parent == "" {
		os.Exit(m.Run())
	}
	d, err := NewTemp(parent)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(d.Path)
	select {}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestAbandonedFoldersGo(t *testing.T) {
	parent := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+parent)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	theirs := line[:len(line)-1]
	other := filepath.Join(parent, ".agentlens-notes.tmp") // a name that no temporary folder has
	file := filepath.Join(parent, ".agentlens-1.tmp")
	another := filepath.Join(parent, ".agentlens-1.tmp.old")
	if err := errors.Join(os.Mkdir(other, 0o755), os.WriteFile(file, nil, 0o644), os.Mkdir(another, 0o755), os.WriteFile(filepath.Join(theirs, "half"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	begin := func() *Temp {
		d, err := NewTemp(parent)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ours := begin()
	if err := begin().Remove(); err != nil {
		t.Fatal(err)
	}
	if !exists(theirs) || !exists(ours.Path) {
		t.Fatal("a folder at work was removed")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	d := begin()
	if exists(theirs) || !exists(ours.Path) || !exists(d.Path) {
		t.Errorf("killed %v, ours %v, new %v", exists(theirs), exists(ours.Path), exists(d.Path))
	}
	if !exists(other) || !exists(file) || !exists(another) {
		t.Error("something else was removed")
	}
	for _, d := range []*Temp{ours, d} {
		if err := errors.Join(d.Remove(), d.Remove()); err != nil || exists(d.Path) {
			t.Errorf("%s: %v", d.Path, err)
		}
	}
}

// TestManyAtOnce makes and removes folders in one parent from many goroutines: nobody loses
// a folder that it holds.
func TestManyAtOnce(t *testing.T) {
	parent := t.TempDir()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				d, err := NewTemp(parent)
				if err == nil {
					err = os.WriteFile(filepath.Join(d.Path, "x"), nil, 0o644)
					err = errors.Join(err, d.Remove())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
