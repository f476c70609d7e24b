package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long a command may take to end after a signal. What can wait ends with its
// context; this is for what the system keeps, such as a read of a disk that is gone.
const patience = 3 * time.Second

// signalled is why a context was cancelled.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return "ended by " + s.Signal.String() }

// code is the exit code that shells give a process that the signal ended.
func (s signalled) code() int { return 128 + int(s.Signal) }

// untilSignal returns a context that ends on the first signal that asks the program to end. A
// second one ends the program at once. A hangup that whoever started the program has it
// ignore, as nohup does, stays ignored. stop gives the signals back.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	asked := make(chan os.Signal, 1)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	signal.Notify(asked, signals...)
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
			return
		case s := <-asked:
			signal.Stop(asked)
			why := signalled{s.(syscall.Signal)}
			cancel(why)
			select {
			case <-done:
			case <-time.After(patience):
				fmt.Fprintln(os.Stderr, "agentlens: interrupted; something did not end in time, and what it leaves is removed by the next run")
				os.Exit(why.code())
			}
		}
	}()
	return ctx, func() {
		close(done)
		cancel(nil)
	}
}

// interrupted says that a command ended because of a signal, and returns its exit code. ok is
// false when it ended otherwise: it was done before the signal came, or none came.
func interrupted(ctx context.Context, err error, notes io.Writer) (code int, ok bool) {
	var s signalled
	if err == nil || errors.Is(err, errRefused) || errors.Is(err, errDiffers) || errors.Is(err, errInvalid) || !errors.As(context.Cause(ctx), &s) {
		return 0, false
	}
	fmt.Fprintln(notes, "agentlens: interrupted; nothing was left behind")
	return s.code(), true
}
