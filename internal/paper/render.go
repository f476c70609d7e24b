package paper

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// unitText is the unit as it stands behind a number.
func (f *Figure) unitText() string {
	switch f.Unit {
	case "text", "":
		return ""
	case "%", "K", "M":
		return f.Unit
	}
	return " " + f.Unit
}

// PublishedText is what the paper prints, with its unit.
func (f *Figure) PublishedText() string { return f.Published + f.unitText() }

// extraDigits are the digits shown beyond those printed.
const extraDigits = 2

// format shows a recomputed value with two digits more than the paper prints, and its unit;
// "-" for none.
func (f *Figure) format(v *Value) string {
	if v == nil {
		return "-"
	}
	if v.IsText {
		return v.Text
	}
	decimals := f.printed.decimals + extraDigits
	s := strconv.FormatFloat(v.Number, 'f', decimals, 64)
	switch small := math.Abs(v.Number) < 0.5*math.Pow10(-decimals); {
	case v.Number == math.Trunc(v.Number):
		s = strconv.FormatFloat(v.Number, 'f', 0, 64)
	case small:
		s = strconv.FormatFloat(v.Number, 'g', 3, 64)
	}
	return s + f.unitText()
}

// RecomputedText is what came out, with unit; "-" when nothing did.
func (f *Figure) RecomputedText() string { return f.format(f.Recomputed) }

// RebuiltText is the same from a rebuilt dataset.
func (f *Figure) RebuiltText() string { return f.format(f.Rebuilt) }

// words of a status for people.
func (s Status) words() string { return strings.ReplaceAll(string(s), "_", " ") }

// groups returns the ledger's places in order, each with its figures.
func (l Ledger) groups() (places []string, figures map[string][]*Figure) {
	figures = map[string][]*Figure{}
	for i := range l.Figures {
		f := &l.Figures[i]
		if len(figures[f.Place]) == 0 {
			places = append(places, f.Place)
		}
		figures[f.Place] = append(figures[f.Place], f)
	}
	return places, figures
}

// WriteText writes a count of statuses by place, then every figure that is no match; full
// also lists the matches.
func WriteText(w io.Writer, l Ledger, full bool) error {
	places, figures := l.groups()
	var b strings.Builder
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(tab, "place\tfigures")
	for _, s := range Statuses() {
		fmt.Fprint(tab, "\t", s.words())
	}
	line := func(name string, part Ledger) {
		fmt.Fprintf(tab, "\n%s\t%d", name, len(part.Figures))
		for _, s := range Statuses() {
			if n := part.Count(s); n > 0 {
				fmt.Fprintf(tab, "\t%d", n)
			} else {
				fmt.Fprint(tab, "\t.")
			}
		}
	}
	for _, place := range places {
		var part Ledger
		for _, f := range figures[place] {
			part.Figures = append(part.Figures, *f)
		}
		line(place, part)
	}
	line("all", l)
	fmt.Fprintln(tab)
	if err := tab.Flush(); err != nil {
		return err
	}

	for _, place := range places {
		listed := slices.DeleteFunc(slices.Clone(figures[place]), func(f *Figure) bool { return f.Status == Match && !full })
		if len(listed) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", place)
		for i := 0; i < len(listed); {
			f := listed[i]
			if f.Status == NotRecomputable && f.Rebuilt == nil {
				n := i
				for n < len(listed) && listed[n].Status == NotRecomputable && listed[n].Rebuilt == nil && listed[n].Explanation == f.Explanation {
					n++
				}
				writeMissing(&b, listed[i:n])
				i = n
				continue
			}
			writeFigure(&b, f)
			i++
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMissing writes neighbours that lack the same data.
func writeMissing(b *strings.Builder, figures []*Figure) {
	first := figures[0]
	what := first.Name
	switch n := len(figures); {
	case n == 2:
		what += " and " + figures[1].Name
	case n > 2:
		what = fmt.Sprintf("%s ... %s (%d figures)", what, figures[n-1].Name, n)
	}
	fmt.Fprintf(b, "  %s: %s\n    %s [%s]\n", what, first.Status.words(), first.Explanation, first.Reason)
}

func writeFigure(b *strings.Builder, f *Figure) {
	fmt.Fprintf(b, "  %s: %s, %s", f.Name, f.PublishedText(), f.Status.words())
	if f.Recomputed != nil {
		fmt.Fprintf(b, ", recomputed %s", f.RecomputedText())
	}
	if f.Rebuilt != nil {
		fmt.Fprintf(b, ", rebuilt %s", f.RebuiltText())
	}
	b.WriteByte('\n')
	if f.Status != Match {
		fmt.Fprintf(b, "    %s [%s]\n", f.Explanation, f.Reason)
	}
}

// WriteMarkdown writes one table per place.
func WriteMarkdown(w io.Writer, l Ledger) error {
	places, figures := l.groups()
	var b strings.Builder
	b.WriteString("# The paper's figures, recomputed\n\n")
	for i, s := range Statuses() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", l.Count(s), s.words())
	}
	b.WriteString(".\n")
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;", "~", `\~`, "_", `\_`, "*", `\*`)
	for _, place := range places {
		rebuilt := slices.ContainsFunc(figures[place], func(f *Figure) bool { return f.Rebuilt != nil })
		heads := []string{"figure", "published", "recomputed"}
		if rebuilt {
			heads = append(heads, "rebuilt")
		}
		heads = append(heads, "status", "reason")
		fmt.Fprintf(&b, "\n## %s\n\n| %s |\n|%s\n", place, strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
		for _, f := range figures[place] {
			cells := []string{f.Name, f.PublishedText(), f.RecomputedText()}
			if rebuilt {
				cells = append(cells, f.RebuiltText())
			}
			reason := ""
			if f.Status != Match {
				reason = f.Explanation + " (" + f.Reason + ")"
			}
			cells = append(cells, f.Status.words(), reason)
			for i := range cells {
				cells[i] = cell.Replace(cells[i])
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The JSON form. A published figure is a number as printed, commas left out, where it is one
// and nothing else; "~18", "<0.0001" and words are strings.
type (
	jsonLedger struct {
		Counts  jsonCounts   `json:"counts"`
		Figures []jsonFigure `json:"figures"`
	}
	jsonCounts struct {
		Figures         int `json:"figures"`
		Match           int `json:"match"`
		WithinDraws     int `json:"within_draw_variation"`
		Differs         int `json:"differs"`
		NotRecomputable int `json:"not_recomputable"`
	}
	jsonFigure struct {
		ID          string         `json:"id"`
		Place       string         `json:"place"`
		Name        string         `json:"name"`
		Published   jsontext.Value `json:"published"`
		Unit        *string        `json:"unit"`
		Recomputed  jsontext.Value `json:"recomputed"`
		Rebuilt     jsontext.Value `json:"rebuilt"`
		Basis       *string        `json:"basis"`
		Status      Status         `json:"status"`
		Reason      *string        `json:"reason"`
		Explanation *string        `json:"explanation"`
	}
)

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (v *Value) json() (jsontext.Value, error) {
	switch {
	case v == nil:
		return jsontext.Value("null"), nil
	case v.IsText:
		return jsontext.AppendQuote(nil, v.Text)
	}
	return json.Marshal(v.Number)
}

func (p printed) json() (jsontext.Value, error) {
	if p.number && p.relation == "" {
		return jsontext.Value(strings.ReplaceAll(p.text, ",", "")), nil
	}
	return jsontext.AppendQuote(nil, p.text)
}

// WriteJSON writes an object with the counts of statuses and the figures.
func WriteJSON(w io.Writer, l Ledger) error {
	out := jsonLedger{
		Counts:  jsonCounts{len(l.Figures), l.Count(Match), l.Count(WithinDraws), l.Count(Differs), l.Count(NotRecomputable)},
		Figures: make([]jsonFigure, len(l.Figures)),
	}
	for i, f := range l.Figures {
		j := jsonFigure{ID: f.ID, Place: f.Place, Name: f.Name, Unit: orNull(f.Unit), Status: f.Status, Reason: orNull(f.Reason), Explanation: orNull(f.Explanation)}
		if f.Recomputed != nil {
			j.Basis = orNull(string(f.Basis))
		}
		var err error
		if j.Published, err = f.printed.json(); err != nil {
			return err
		}
		if j.Recomputed, err = f.Recomputed.json(); err != nil {
			return err
		}
		if j.Rebuilt, err = f.Rebuilt.json(); err != nil {
			return err
		}
		out.Figures[i] = j
	}
	if err := json.MarshalWrite(w, out, jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// WriteReasons writes what the reason codes mean, all without any.
func WriteReasons(w io.Writer, codes ...string) error {
	list := Reasons()
	if len(codes) > 0 {
		list = nil
		for _, code := range codes {
			r, ok := Explain(code)
			if !ok {
				return fmt.Errorf("unknown reason %q: want one of %s", code, strings.Join(codesOf(Reasons()), ", "))
			}
			list = append(list, r)
		}
	}
	var b strings.Builder
	for i, r := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s\n%s", r.Code, r.Title, wrap(r.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func codesOf(list []Reason) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.Code
	}
	return out
}

const (
	textWidth  = 96
	textIndent = "  "
)

func wrap(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
			b.WriteString(textIndent)
			column = len(textIndent)
		case column+1+n > textWidth:
			b.WriteString("\n" + textIndent)
			column = len(textIndent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
	return b.String()
}
