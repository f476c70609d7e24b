package shell

import (
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Options of a Parser.
type Options struct {
	// WorkspaceRoot is the absolute directory commands start in and paths are relative to;
	// "" means /testbed.
	WorkspaceRoot string
	// ScratchPrefixes begin the normalised paths of throw-away files; nil means tmp/ and
	// agent/, the scaffold's own directory in the release.
	ScratchPrefixes []string
}

// Parser reads commands. The zero value is not usable; call New.
type Parser struct {
	root    string
	scratch []string
	rules   map[string]rule // read only
	pool    sync.Pool       // *syntax.Parser
}

// New returns a Parser.
func New(opt Options) *Parser {
	if opt.WorkspaceRoot == "" {
		opt.WorkspaceRoot = "/testbed"
	}
	if opt.ScratchPrefixes == nil {
		opt.ScratchPrefixes = []string{"tmp/", "agent/"}
	}
	return &Parser{
		root:    path.Join("/", opt.WorkspaceRoot),
		scratch: opt.ScratchPrefixes,
		rules:   ruleTable(),
		pool:    sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }},
	}
}

// At returns a Parser for another workspace root, p itself when the root is "" or its own.
func (p *Parser) At(root string) *Parser {
	if root == "" || path.Join("/", root) == p.root {
		return p
	}
	return &Parser{
		root:    path.Join("/", root),
		scratch: p.scratch,
		rules:   p.rules,
		pool:    sync.Pool{New: p.pool.New},
	}
}

// Result is what a command does.
type Result struct {
	OK      bool // the whole command is valid bash
	Actions []Action
}

const (
	// A command with more bytes or opening brackets than this is not parsed: the grammar is
	// recursive and takes up to 4 kB of stack per bracket of a hostile command. The longest
	// command of the release has 20 kB.
	maxCommand  = 64 << 10
	maxBrackets = 8 << 10

	maxNesting = 16 // of commands inside bash -c and bash heredocs
)

// Parse reads one command that starts in the workspace root.
func (p *Parser) Parse(command string) Result { return p.parse(command, p.root, 0) }

func (p *Parser) parse(command, cwd string, depth int) Result {
	recs, ok := p.records(command)
	if !ok {
		first, _, cut := strings.Cut(command, "\n")
		firstOK := false
		if cut {
			recs, firstOK = p.records(first)
		}
		if !firstOK {
			return Result{Actions: []Action{{Kind: Other, Name: firstWord(command)}}}
		}
	}
	in := interpreter{Parser: p, cwd: cwd, depth: depth}
	for i := range recs {
		in.record(&recs[i])
	}
	return Result{OK: ok, Actions: in.actions}
}

func firstWord(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return ""
}

// record is one statement of a command.
type record struct {
	argv    []string // empty for anything but a simple command, a declaration or a [[ ]]
	out     []string // targets of redirected standard output
	heredoc string
	hasDoc  bool
	piped   bool // reads from a pipe
}

// records parses src and lists its statements, each before those nested in it.
func (p *Parser) records(src string) (recs []record, ok bool) {
	if len(src) > maxCommand || strings.Count(src, "(")+strings.Count(src, "[")+strings.Count(src, "{") > maxBrackets {
		return nil, false
	}
	sp := p.pool.Get().(*syntax.Parser)
	defer func() {
		// A grammar bug must cost one command, not the run; the parser is dropped with it.
		if recover() != nil {
			recs, ok = nil, false
		}
	}()
	file, err := sp.Parse(strings.NewReader(src), "")
	p.pool.Put(sp)
	if err != nil {
		return nil, false
	}
	c := collector{src: src}
	for _, s := range file.Stmts {
		syntax.Walk(s, c.visit)
	}
	return c.recs, true
}

type collector struct {
	src   string
	recs  []record
	piped []*syntax.Stmt // right operands of pipes that were not visited yet
}

func (c *collector) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		c.statement(n)
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			c.piped = append(c.piped, leftmost(n.Y))
		}
	case *syntax.Redirect:
		if n.Hdoc != nil { // the body is data, not commands
			syntax.Walk(n.Word, c.visit)
			return false
		}
	}
	return true
}

func leftmost(s *syntax.Stmt) *syntax.Stmt {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			return s
		}
		s = b.X
	}
}

// takePiped reports whether s reads from a pipe. Each statement is asked for once.
func (c *collector) takePiped(s *syntax.Stmt) bool {
	for i := len(c.piped) - 1; i >= 0; i-- {
		if c.piped[i] == s {
			c.piped = slices.Delete(c.piped, i, i+1)
			return true
		}
	}
	return false
}

func (c *collector) statement(s *syntax.Stmt) {
	var r record
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) > 0 {
			r.argv = make([]string, len(cmd.Args))
			for i, w := range cmd.Args {
				r.argv[i] = c.word(w)
			}
		}
	case *syntax.DeclClause:
		r.argv = []string{cmd.Variant.Value}
	case *syntax.TestClause:
		r.argv = []string{"[["}
	}
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			r.hasDoc, r.heredoc = true, ""
			if d.Hdoc != nil {
				body := c.source(d.Hdoc) // ends with the delimiter
				r.heredoc = body[:strings.LastIndexByte(body, '\n')+1]
			}
		case syntax.WordHdoc:
			r.hasDoc, r.heredoc = true, c.word(d.Word)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			if d.N != nil && d.N.Value != "1" {
				continue
			}
			if t := c.word(d.Word); t != "" && !strings.HasPrefix(t, "/dev/") {
				r.out = append(r.out, t)
			}
		}
	}
	r.piped = c.takePiped(s)
	if len(r.argv) > 0 || len(r.out) > 0 {
		c.recs = append(c.recs, r)
	}
}

// source returns the text of a node as written.
func (c *collector) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(c.src) {
		return ""
	}
	return c.src[from:to]
}

// word returns the text of a word: quotes and escapes removed, expansions verbatim.
func (c *collector) word(w *syntax.Word) string {
	if len(w.Parts) == 1 {
		return c.part(w.Parts[0])
	}
	var b strings.Builder
	for _, p := range w.Parts {
		b.WriteString(c.part(p))
	}
	return b.String()
}

func (c *collector) part(p syntax.WordPart) string {
	switch p := p.(type) {
	case *syntax.Lit:
		return unescape(p.Value, "")
	case *syntax.SglQuoted:
		return p.Value
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, q := range p.Parts {
			if lit, ok := q.(*syntax.Lit); ok {
				b.WriteString(unescape(lit.Value, "\"\\$`"))
			} else {
				b.WriteString(c.source(q))
			}
		}
		return b.String()
	}
	return c.source(p)
}

// unescape removes the backslash before any of the bytes in special, or before any byte if
// special is empty. A backslash before a newline vanishes with it.
func unescape(s, special string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			next := s[i+1]
			if next == '\n' {
				i++
				continue
			}
			if special == "" || strings.IndexByte(special, next) >= 0 {
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
