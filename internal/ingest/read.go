package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/ingest/release"
	"github.com/agentlens-bench/agentlens/internal/ingest/source"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

const (
	// inFlight bounds the bytes of records that wait for a parser or are being parsed. A
	// record larger than that is parsed alone.
	inFlight = 96 << 20

	// reusable is the largest buffer that is kept for the next record.
	reusable = 4 << 20

	bom = "\ufeff"

	unknownFormat = "unknown_format" // code of a record that no reader takes
)

// Read reads the sources one after the other and emits what they hold. It fails when a
// source can't be opened, is refused, or holds no readable record; when emit fails; and on
// cancellation. Refused records are items, not errors.
//
// The evidence emitted for a record with one trajectory has that trajectory's id as key.
func Read(ctx context.Context, sources []string, opt Options, emit Emit) (Summary, error) {
	r := reader{opt: opt, emit: emit, formats: formatsWith(cmp.Or(opt.Tools, tools.Default())), tables: tables()}
	r.opt.Limits = opt.Limits.WithDefaults()
	r.buffers.New = func() any { return new([]byte) }
	if opt.Format != "" {
		var err error
		if r.formats, err = forced(r.formats, opt.Format); err != nil {
			return Summary{}, err
		}
	}
	if opt.Labels != "" {
		text, err := opt.Files.Read(ctx, opt.Labels)
		if err != nil {
			return Summary{}, sideFileError("labels file", err)
		}
		labels, err := outcome.ReadLabels(opt.Labels, text.Data)
		if err != nil {
			return Summary{}, usage.Errorf("", "%w", err)
		}
		for _, e := range labels {
			if err := emit(Item{Evidence: &e}); err != nil {
				return Summary{}, err
			}
		}
	}
	if opt.Report != nil {
		for _, root := range sources {
			r.total += source.Size(root)
		}
	}
	summary := Summary{Warnings: map[string]int64{}, Skipped: map[string]int64{}, Recognised: map[string]int64{}, Privacy: privacy.Counts{}}
	for i, root := range sources {
		s := sourceReader{reader: &r, root: root, number: i + 1, weight: semaphore.NewWeighted(inFlight), warnings: map[string]int64{}, skipped: map[string]int64{}, recognised: map[string]int64{}, replaced: privacy.Counts{}}
		if err := s.read(ctx); err != nil {
			return Summary{}, err
		}
		summary.Sources = append(summary.Sources, SourceDigest{Files: s.digest.Files(), Bytes: s.digest.Bytes(), SHA256: s.digest.Sum()})
		for reason, n := range s.skipped {
			summary.Skipped[reason] += n
		}
		for code, n := range s.warnings {
			summary.Warnings[code] += n
		}
		for how, n := range s.recognised {
			summary.Recognised[how] += n
		}
		for kind, n := range s.replaced {
			summary.Privacy[kind] += n
		}
	}
	if opt.Report != nil {
		opt.Report(r.total, r.total)
	}
	slices.SortFunc(summary.Sources, func(a, b SourceDigest) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return summary, nil
}

// sideFileError is about a file that the call names, unless the call was ended.
func sideFileError(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return usage.Errorf("", "%s: %w", what, err)
}

// reader is what all sources share.
type reader struct {
	opt     Options
	emit    Emit
	formats []format.Format
	tables  []table
	buffers sync.Pool // of *[]byte

	done, total int64 // progress over all sources
}

// sourceReader reads one source.
type sourceReader struct {
	*reader
	root   string
	number int // 1-based
	weight *semaphore.Weighted
	jobs   chan job

	mu         sync.Mutex // guards what follows
	digest     source.Digest
	skipped    map[string]int64
	warnings   map[string]int64
	recognised map[string]int64
	replaced   privacy.Counts
	companions []Evidence // held back until it is known whether the source has runs
	runs       int64
	readable   int64

	refused Refusals // by files as they are named in the source

	parts spool // records of runs that are spread over several
}

// job is one record on its way to a parser.
type job struct {
	file   string // as items name it
	path   string // in the source
	kind   source.Kind
	line   int64
	buf    *[]byte
	weight int64
	told   int // number of the joined line that told what they are, from 1; else 0
}

func (s *sourceReader) read(ctx context.Context) error {
	group, inner := errgroup.WithContext(ctx)
	s.jobs = make(chan job, 2*max(s.opt.Jobs, 1))
	group.Go(func() error {
		defer close(s.jobs)
		return s.walk(inner)
	})
	for range max(s.opt.Jobs, 1) {
		group.Go(func() error { return s.work(inner) })
	}
	defer s.parts.close()
	if err := group.Wait(); err != nil {
		return err
	}
	if err := s.assemble(ctx); err != nil {
		return err
	}
	refused, err := s.emitRefused()
	if err != nil {
		return err
	}
	if s.readable == 0 {
		return s.nothing(refused)
	}
	for i := range s.companions {
		e := &s.companions[i]
		if s.runs == 0 {
			e.SourceNo = 0 // a source of reports alone speaks about the runs of the others
		}
		if err := s.emit(Item{Evidence: e}); err != nil {
			return err
		}
	}
	return nil
}

// nothing explains a source without a single readable record.
func (s *sourceReader) nothing(first *RecordError) error {
	const hint = "give a folder, file or archive of agent logs"
	switch {
	case first != nil:
		return fmt.Errorf("source %s holds no readable record: %d refused, the first: %w", s.root, s.refused.Count(), first)
	case len(s.skipped) > 0:
		reasons := make([]string, 0, len(s.skipped))
		for reason, n := range s.skipped {
			reasons = append(reasons, fmt.Sprintf("%d %s", n, reason))
		}
		slices.Sort(reasons)
		return fmt.Errorf("source %s holds no readable record; skipped: %s; %s", s.root, strings.Join(reasons, ", "), hint)
	}
	return usage.Errorf("", "source %s is empty or has hidden files only; %s", s.root, hint)
}

// walk cuts the source into records and hands them to the parsers.
func (s *sourceReader) walk(ctx context.Context) error {
	before := s.done
	var told int64
	handler := source.Handler{
		File:   func(f source.File) error { return s.split(ctx, f) },
		Refuse: s.refused.Add,
		Skip:   s.skip,
		Warn:   s.warn,
	}
	if s.opt.Report != nil {
		handler.Report = func(read int64) {
			s.done = before + read
			if s.done-told >= 1<<20 {
				told = s.done
				s.opt.Report(s.done, s.total)
			}
		}
	}
	return source.Walk(ctx, s.root, s.opt.Limits, handler)
}

func (s *sourceReader) split(ctx context.Context, f source.File) error {
	file := s.hideFile(release.Path(f.Path))
	named := f
	named.Path = file
	var buf *[]byte
	fresh := func() []byte {
		buf = s.buffers.Get().(*[]byte)
		return (*buf)[:0]
	}
	var records int64
	told := 0
	yield := func(c source.Chunk) error {
		records++
		*buf = c.Data
		j := job{file: file, path: f.Path, kind: f.Kind, line: c.Line, buf: buf, weight: min(int64(cap(c.Data)), inFlight), told: told}
		if err := s.weight.Acquire(ctx, j.weight); err != nil {
			return err
		}
		select {
		case s.jobs <- j:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	refuse := func(e RecordError) {
		records++
		s.refused.add(e, true)
	}
	asked := 0
	joined := func(line []byte) source.Joint {
		asked++
		joint := s.joined(file, line)
		if joint == source.Joined {
			told = asked
		}
		return joint
	}
	whole, err := source.Split(named, s.opt.Limits.MaxRecordBytes, joined, fresh, yield, refuse)
	s.refused.cut(file, records)
	if err != nil {
		return err
	}
	if whole != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.digest.Add(f.Path, whole.SHA256, whole.Bytes)
	}
	return nil
}

// joined reports what a line says about the file it stands in.
func (s *sourceReader) joined(file string, line []byte) source.Joint {
	p := format.NewProbe(file, line)
	for i := range s.formats {
		if f := &s.formats[i]; f.Joined != nil && f.Joined(p) {
			return source.Joined
		}
	}
	if f, _ := recognise(s.formats, p); f != nil {
		return source.Apart
	}
	return source.Undecided
}

// work parses records until there are no more.
func (s *sourceReader) work(ctx context.Context) error {
	for j := range s.jobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.parse(j)
		s.weight.Release(j.weight)
		if cap(*j.buf) <= reusable {
			s.buffers.Put(j.buf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parse reads one record and emits its items.
func (s *sourceReader) parse(j job) error {
	data := *j.buf
	sum := sha256.Sum256(data)
	rec := format.Record{File: j.file, Line: j.line, SHA256: hex.EncodeToString(sum[:])}
	if j.line == 0 {
		s.mu.Lock()
		s.digest.Add(j.path, rec.SHA256, int64(len(data)))
		s.mu.Unlock()
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		s.reject(rec, &RecordError{Code: "utf16", Message: "the text is UTF-16", Hint: "convert it to UTF-8"}, true)
		return nil
	}
	data, warnings := repair(bytes.TrimPrefix(data, []byte(bom)))
	rec.Data = data
	items, kept, err := s.items(j, &rec, warnings)
	switch {
	case err != nil:
		s.reject(rec, err, true)
		return nil
	case kept:
		return nil
	}
	if rec.Probe != nil {
		account(items, rec.Data)
	}
	return s.emitAll(rec, items, warnings, false)
}

// account completes the ledger of the run of a record, when it holds one run: calls that were
// found and are neither steps nor skipped are a warning.
func account(items []Item, records ...[]byte) {
	var run *trajectory.Trajectory
	for i := range items {
		if t := items[i].Trajectory; t != nil {
			if run != nil {
				return
			}
			run = t
		}
	}
	if run == nil || run.Ledger == nil {
		return
	}
	calls := &run.Ledger.Calls
	calls.Found = max(format.CountCalls(records...), calls.Read+calls.SkippedAll())
	if n := calls.Unread(); n > 0 {
		run.Warnings = append(run.Warnings, trajectory.Warning{
			Code:   WarnUnread,
			Detail: fmt.Sprintf("%d of %d calls in the log are neither steps nor skipped for a reason", n, calls.Found),
		})
	}
}

// items reads the record with the reader it calls for. kept says that the record is a part
// of a run: it is read when the source has ended.
func (s *sourceReader) items(j job, rec *format.Record, warnings []trajectory.Warning) (items []Item, kept bool, err error) {
	switch j.kind {
	case source.Table:
		return s.tableItems(*rec), false, nil
	case source.Text:
		if items = outcome.ReadText(*rec); items == nil {
			s.skip("report of an evaluation without a result")
		}
		return items, false, nil
	}
	rec.Probe = outline(rec.File, rec.Data, j.told)
	formats := s.formats
	if j.path == source.PlainName(filepath.Base(s.root)) {
		// A source that is one file is read for its runs, even when it could stand beside
		// another one.
		formats = slices.DeleteFunc(slices.Clone(formats), func(f format.Format) bool { return f.ID == outcome.EvalID })
	}
	f, key := recognise(formats, rec.Probe)
	if f == nil {
		err := s.unknown(rec)
		var e *RecordError
		if errors.As(err, &e) && e.Code == unknownFormat && source.InAgentFolder(j.path) {
			s.skip("file of an agent's folder that is no log")
			return nil, false, nil
		}
		return nil, false, err
	}
	s.mu.Lock()
	s.recognised[f.ID+" by "+key]++
	s.mu.Unlock()
	if f.Skip != "" {
		s.skip(f.Skip)
		return nil, false, nil
	}
	if f.ID != release.ID {
		s.scrub(rec, j.told)
	}
	if f.Parts != nil {
		note, err := f.Parts.Note(*rec)
		if err != nil {
			return nil, false, err
		}
		if !note.Alone {
			return nil, true, s.parts.add(f, *rec, note, s.opt.AllAttempts, warnings)
		}
	}
	items, err = f.Read(*rec)
	return items, false, err
}

func (r *reader) privacy() privacy.Options { return privacy.Options{KeepPaths: r.opt.KeepPaths} }

// hideFile replaces the home directory in the path of a file inside its source.
func (r *reader) hideFile(file string) string {
	return strings.TrimPrefix(r.privacy().ScrubString("/"+file), "/")
}

// scrub replaces what is private in a record.
func (s *sourceReader) scrub(rec *format.Record, told int) {
	out, counts := s.privacy().Scrub(rec.Data)
	if len(counts) == 0 {
		return
	}
	rec.Data, rec.Probe = out, outline(rec.File, out, told)
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, n := range counts {
		s.replaced[kind] += n
	}
}

// outline returns the outline of a record; with told > 1 that from its line of this number on,
// among those that are not blank.
func outline(file string, data []byte, told int) *format.Probe {
	if told > 1 {
		n, at := 0, 0
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSpace(line)) > 0 {
				n++
			}
			if n == told {
				return format.NewProbe(file, data[at:])
			}
			at += len(line)
		}
	}
	return format.NewProbe(file, data)
}

// unknown explains a record that no reader takes.
func (s *sourceReader) unknown(rec *format.Record) error {
	if err := format.Check(rec.Data); err != nil {
		return err
	}
	known := make([]string, 0, len(s.formats))
	for _, f := range s.formats {
		if f.Skip == "" {
			known = append(known, f.ID)
		}
	}
	return &RecordError{
		Code:    unknownFormat,
		Message: fmt.Sprintf("%s: no known format; known are %s", rec.Probe.Seen(), strings.Join(known, ", ")),
		Hint:    "name the reader with option format, or take the file out of the source",
	}
}

func (s *sourceReader) tableItems(rec format.Record) []Item {
	header, err := csv.NewReader(bytes.NewReader(rec.Data)).Read()
	if err == nil {
		for _, t := range s.tables {
			switch {
			case !t.detect(header):
			case t.skip != "":
				s.skip(t.skip)
				return nil
			default:
				return t.read(rec)
			}
		}
	}
	s.skip("table that is neither annotations nor labels")
	return nil
}

// emitAll completes and emits the items of one record, or of several that were joined.
func (s *sourceReader) emitAll(rec format.Record, items []Item, warnings []trajectory.Warning, joined bool) error {
	var runs []*trajectory.Trajectory
	for _, item := range items {
		if t := item.Trajectory; t != nil {
			t.SourceFile, t.SourceRecord, t.SourceSHA256, t.SourceNo = rec.File, rec.Line, rec.SHA256, s.number
			t.Warnings = append(t.Warnings, warnings...)
			s.hide(t, joined)
			runs = append(runs, t)
		}
	}
	own := map[string][]Evidence{}
	kept := items[:0]
	whole := !slices.ContainsFunc(items, func(i Item) bool { return i.Refused == nil })
	for _, item := range items {
		switch {
		case item.Refused != nil:
			s.reject(rec, item.Refused, whole)
			whole = false // a record counts once
			continue
		case item.Evidence != nil:
			e := item.Evidence
			e.File, e.SourceNo = rec.File, s.number
			if len(runs) == 0 {
				s.hold(*e)
				continue
			}
			if len(runs) == 1 {
				e.Key = runs[0].ID
			}
			own[e.Key] = append(own[e.Key], *e)
		}
		kept = append(kept, item)
	}
	for _, t := range runs {
		settled := outcome.Settle(own[t.ID])
		t.Outcome, t.OutcomeSource, t.OutcomeDetail = settled.Outcome, settled.Source, settled.Detail
	}
	s.mu.Lock()
	s.runs += int64(len(runs))
	s.readable += int64(len(kept))
	s.mu.Unlock()
	for _, item := range kept {
		if err := s.emit(item); err != nil {
			return err
		}
	}
	return nil
}

// hold keeps evidence of a file that holds no run.
func (s *sourceReader) hold(e Evidence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.companions = append(s.companions, e)
	s.readable++
}

func (s *sourceReader) skip(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped[reason]++
}

func (s *sourceReader) warn(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings[code]++
}

// reject notes a refused record with its place. whole says that nothing of the record was read.
func (s *sourceReader) reject(rec format.Record, err error, whole bool) {
	var refused *RecordError
	if !errors.As(err, &refused) {
		refused = &RecordError{Code: "bad_record", Message: err.Error()}
	}
	e := *refused
	e.File = cmp.Or(e.File, rec.File)
	e.Line = cmp.Or(e.Line, rec.Line)
	if e.Record == "" && rec.Probe != nil {
		for _, key := range []string{"trajectory_id", "instance_id"} {
			if id, ok := rec.Probe.Get(key).Text(); ok && e.Record == "" {
				e.Record = id
			}
		}
	}
	s.refused.add(e, whole)
}

// emitRefused emits the refused records, and returns the first.
func (s *sourceReader) emitRefused() (first *RecordError, err error) {
	for _, e := range s.refused.List() {
		file := s.hideFile(e.File)
		e.Message = s.privacy().ScrubString(strings.ReplaceAll(e.Message, e.File, file))
		e.File, e.Record, e.Hint = file, s.privacy().ScrubString(e.Record), s.privacy().ScrubString(e.Hint)
		if first == nil {
			first = &e
		}
		if err := s.emit(Item{Refused: &e}); err != nil {
			return first, err
		}
	}
	return first, nil
}
