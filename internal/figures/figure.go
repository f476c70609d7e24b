package figures

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	version "github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Options of Make.
type Options struct {
	Source Source   // "" takes the first of Sources that the dataset has
	Only   []string // names of figures; none means all
	Runs   []string // runs of the timelines; none means a choice of the figure's own
}

// Figure is a drawing and its numbers.
type Figure struct {
	Name   string // also the name of its files
	Tables []Table
	page   *page
}

// Table is numbers behind a figure.
type Table struct {
	Name   string // the figure's name, or that with a dot and what the table adds
	Header []string
	Rows   [][]string
}

// Skipped is a figure that the data do not give, and why.
type Skipped struct {
	Name   string
	Reason error
}

// errNoData marks a figure for which there are no data.
var errNoData = errors.New("nothing to draw")

// request is what a figure's function works on.
type request struct {
	ctx     context.Context
	dataset *dataset
	source  Source
	all     bool // the source was not chosen by the user
	runs    []string
	loaded  map[Source]*data
}

func (r *request) data(s Source) (*data, error) {
	if d := r.loaded[s]; d != nil {
		return d, nil
	}
	d, err := r.dataset.read(r.ctx, s)
	if err == nil {
		r.loaded[s] = d
	}
	return d, err
}

// kind is a figure that can be asked for.
type kind struct {
	name, what string
	make       func(*request) (*Figure, error)
}

func kinds() []kind {
	return []kind{
		{"tiers", "tier shares by model", tierShares},
		{"ranks", "rank by pass rate against rank by score", ranks},
		{"scores", "distribution of scores of passing and failing runs, with thresholds", scoreDistributions},
		{"lucky", "Lucky passes by category and model", luckyByModel},
		{"waste", "waste by tier", wasteByTier},
		{"tokens", "tokens of Lucky passes by category", tokensByCategory},
		{"timelines", "stages of chosen runs, step by step", timelines},
	}
}

// Names lists the figures.
func Names() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// Describe returns a line for every figure: name and what it shows.
func Describe() string {
	var b strings.Builder
	for _, k := range kinds() {
		fmt.Fprintf(&b, "  %-10s %s\n", k.name, k.what)
	}
	return b.String()
}

// Make draws figures from the dataset in dir, in the order of Names. Figures for which the
// source has no data are returned as skipped, unless Only names them: then that is an error.
func Make(ctx context.Context, dir string, opt Options) (figs []Figure, skipped []Skipped, err error) {
	err = version.Read(dir, func() (err error) {
		figs, skipped, err = drawAll(ctx, dir, opt)
		return err
	})
	return figs, skipped, err
}

func drawAll(ctx context.Context, dir string, opt Options) ([]Figure, []Skipped, error) {
	for _, name := range opt.Only {
		if !slices.Contains(Names(), name) {
			return nil, nil, usage.Errorf("", "unknown figure %q: want one of %s", name, join(Names()))
		}
	}
	if len(opt.Runs) > 0 && len(opt.Only) > 0 && !slices.Contains(opt.Only, "timelines") {
		return nil, nil, usage.Errorf("", "runs are chosen for the figure timelines, which was not asked for")
	}
	d, err := openDataset(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.db.Close()
	req := &request{ctx: ctx, dataset: d, source: opt.Source, runs: opt.Runs, loaded: map[Source]*data{}}
	switch {
	case len(d.have) == 0:
		return nil, nil, fmt.Errorf("%s: no profile was computed: build the dataset with option profile release", dir)
	case opt.Source == "":
		req.source, req.all = d.have[0], true
	case !slices.Contains(d.have, opt.Source):
		return nil, nil, fmt.Errorf("%s has no source %s, only %s", dir, opt.Source, join(d.have))
	}
	var figs []Figure
	var skipped []Skipped
	for _, k := range kinds() {
		if len(opt.Only) > 0 && !slices.Contains(opt.Only, k.name) {
			continue
		}
		f, err := k.make(req)
		switch {
		case (errors.Is(err, errNoData) || errors.Is(err, store.ErrAbsent)) && len(opt.Only) == 0:
			skipped = append(skipped, Skipped{k.name, err})
		case err != nil:
			return nil, nil, fmt.Errorf("figure %s: %w", k.name, err)
		default:
			f.Name = k.name
			figs = append(figs, *f)
		}
	}
	if len(figs) == 0 && errors.Is(skipped[0].Reason, store.ErrAbsent) {
		return nil, nil, skipped[0].Reason
	}
	return figs, skipped, nil
}

// Formats lists the formats of WriteTo.
func Formats() []string { return []string{"svg", "png"} }

// pngDPI is the resolution of PNG files in dots per inch.
const pngDPI = 200

// WriteTo writes the drawing in one of Formats.
func (f *Figure) WriteTo(w io.Writer, format string) error {
	switch format {
	case "svg":
		c := vgsvg.New(pageWidth, f.page.height())
		f.page.draw(draw.New(c))
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return err
		}
		_, err := svgText(f.page).WriteString(w, b.String())
		return err
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(pageWidth, f.page.height()), vgimg.UseDPI(pngDPI))
		f.page.draw(draw.NewCanvas(outlined{c}, pageWidth, f.page.height()))
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
	return usage.Errorf("", "unknown format %q: want one of %s", format, strings.Join(Formats(), ", "))
}

// svgText puts what the drawing library leaves out into its SVG: other fonts for programs
// without Liberation Sans, which Arial and Helvetica fit in every width, and the title and the
// notes for readers who cannot see.
func svgText(p *page) *strings.Replacer {
	const head = `xmlns:xlink="http://www.w3.org/1999/xlink">`
	return strings.NewReplacer(
		"font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;",
		head, strings.TrimSuffix(head, ">")+` role="img">`+"\n<title>"+html.EscapeString(p.title)+"</title>\n<desc>"+html.EscapeString(strings.Join(p.notes, " "))+"</desc>",
	)
}

// WriteCSV writes the table with its header.
func (t *Table) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(t.Header); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}
