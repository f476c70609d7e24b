package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/stats"
)

// Reported are figures as a report prints them, "" where it prints none. Their last digit is
// taken as rounded.
type Reported struct {
	AUROC    string
	KSD      string // distance of the two classes' scores
	KSP      string // its p-value, two-sided
	Positive int    // rows of the classes, 0 when not given
	Negative int

	Chi2    string
	DoF     int
	Chi2P   string
	CramerV string
	Rows    int // rows of the contingency table's data
	MinDim  int // the smaller number of categories
}

// rounded is a printed number and half a unit of its last digit.
type rounded struct{ value, half float64 }

func (r rounded) low() float64  { return r.value - r.half }
func (r rounded) high() float64 { return r.value + r.half }

// overlaps reports whether a range and the numbers that round to r have one in common.
func (r rounded) overlaps(low, high float64) bool { return r.low() <= high && low <= r.high() }

func parseRounded(name, text string) (rounded, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return rounded{}, fmt.Errorf("%w: %s %q is no number", ErrData, name, text)
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	e := 0
	if exponent != "" {
		if e, err = strconv.Atoi(exponent); err != nil {
			return rounded{}, fmt.Errorf("%w: %s %q is no number", ErrData, name, text)
		}
	}
	_, decimals, _ := strings.Cut(mantissa, ".")
	return rounded{v, 0.5 * math.Pow(10, float64(e-len(decimals)))}, nil
}

// Check tells which reported figures cannot come from the same rows: an AUROC bounds the
// Kolmogorov-Smirnov distance, 1 - sqrt(2(1-AUROC)) <= D; the distance and the number of rows
// give the p-value; chi-square and its degrees of freedom give its p-value, and with the number
// of rows Cramer's V. Every contradiction is a warning.
func Check(rep Reported) (Result, error) {
	c := check{rep: rep}
	for _, step := range []func() error{c.distance, c.chiSquare} {
		if err := step(); err != nil {
			return Result{}, err
		}
	}
	verdict := "consistent"
	if len(c.res.Warnings) > 0 {
		verdict = "inconsistent"
	}
	if c.res.Figures == nil {
		return Result{}, fmt.Errorf("%w: nothing to compare; give two figures of the same rows, such as option auroc with option ks-d, or option ks-p with option positive and option negative", ErrData)
	}
	return c.res, c.res.figure("verdict", verdict, nil, "")
}

type check struct {
	rep Reported
	res Result
}

func (c *check) distance() error {
	low, high := 0.0, 1.0 // of D
	if c.rep.AUROC != "" {
		a, err := parseRounded("AUROC", c.rep.AUROC)
		if err != nil {
			return err
		}
		if a.value < 0 || a.value > 1 {
			return fmt.Errorf("%w: AUROC %s is not between 0 and 1", ErrData, c.rep.AUROC)
		}
		// D is least for the AUROC nearest to one half, and at most for the farthest.
		near, far := max(0.5, a.low()), min(1, a.high())
		if a.value < 0.5 {
			near, far = min(0.5, a.high()), max(0, a.low())
		}
		if low, _, err = stats.KSRange(near); err != nil {
			return err
		}
		if _, high, err = stats.KSRange(far); err != nil {
			return err
		}
	}
	var d *rounded
	if c.rep.KSD != "" {
		v, err := parseRounded("D", c.rep.KSD)
		if err != nil {
			return err
		}
		if v.value < 0 || v.value > 1 {
			return fmt.Errorf("%w: D %s is not between 0 and 1", ErrData, c.rep.KSD)
		}
		d = &v
	}
	if c.rep.AUROC != "" && (d != nil || c.rep.KSP != "") {
		if err := c.add("d_least", low, "for AUROC "+c.rep.AUROC); err != nil {
			return err
		}
		if err := c.add("d_most", high, ""); err != nil {
			return err
		}
		if d != nil && !d.overlaps(low, high) {
			c.res.warn("D %s and AUROC %s cannot come from the same rows: D would lie between %s and %s", c.rep.KSD, c.rep.AUROC, short(low), short(high))
		}
	}
	if c.rep.KSP == "" {
		return nil
	}
	p, err := parseRounded("p", c.rep.KSP)
	if err != nil {
		return err
	}
	if c.rep.Positive < 1 || c.rep.Negative < 1 {
		return fmt.Errorf("%w: to judge a p-value give the rows of both classes with option positive and option negative", ErrData)
	}
	if d != nil {
		low, high = d.low(), d.high()
	}
	largest, err := c.pValue(low)
	if err != nil {
		return err
	}
	smallest, err := c.pValue(high)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("%d and %d rows", c.rep.Positive, c.rep.Negative)
	if err := c.add("p_least", smallest, "at "+of); err != nil {
		return err
	}
	if err := c.add("p_most", largest, ""); err != nil {
		return err
	}
	implied, err := c.impliedDistance(p.value)
	if err != nil {
		return err
	}
	if err := c.add("d_of_p", implied, "distance that gives p "+c.rep.KSP); err != nil {
		return err
	}
	if !p.overlaps(smallest, largest) {
		c.res.warn("p %s does not belong to %s with %s: it would lie between %s and %s; p %s needs D %s",
			c.rep.KSP, of, c.given(), short(smallest), short(largest), c.rep.KSP, short(implied))
	}
	return nil
}

func (c *check) given() string {
	switch {
	case c.rep.KSD != "":
		return "D " + c.rep.KSD
	case c.rep.AUROC != "":
		return "AUROC " + c.rep.AUROC
	}
	return "any distance"
}

func (c *check) add(name string, value float64, note string) error {
	return c.res.figure(name, value, nil, note)
}

func (c *check) pValue(d float64) (float64, error) {
	return stats.KSPValue(min(1, max(0, d)), c.rep.Positive, c.rep.Negative, stats.TwoSided, stats.KSAsymptotic)
}

// impliedDistance solves for the distance with a p-value, which falls with it.
func (c *check) impliedDistance(p float64) (float64, error) {
	low, high := 0.0, 1.0
	for range 60 {
		middle := (low + high) / 2
		v, err := c.pValue(middle)
		if err != nil {
			return 0, err
		}
		if v > p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2, nil
}

func (c *check) chiSquare() error {
	if c.rep.Chi2 == "" {
		return nil
	}
	chi, err := parseRounded("chi-square", c.rep.Chi2)
	if err != nil {
		return err
	}
	if chi.value < 0 {
		return fmt.Errorf("%w: chi-square %s is negative", ErrData, c.rep.Chi2)
	}
	if c.rep.Chi2P != "" {
		if c.rep.DoF < 1 {
			return fmt.Errorf("%w: to judge the p-value of chi-square give option dof", ErrData)
		}
		p, err := parseRounded("p", c.rep.Chi2P)
		if err != nil {
			return err
		}
		value := stats.ChiSquareSF(chi.value, c.rep.DoF)
		if err := c.add("chi2_p", value, fmt.Sprintf("%d degrees of freedom", c.rep.DoF)); err != nil {
			return err
		}
		if !p.overlaps(stats.ChiSquareSF(chi.high(), c.rep.DoF), stats.ChiSquareSF(chi.low(), c.rep.DoF)) {
			c.res.warn("p %s does not belong to chi-square %s with %d degrees of freedom: it is %s", c.rep.Chi2P, c.rep.Chi2, c.rep.DoF, short(value))
		}
	}
	if c.rep.CramerV != "" {
		if c.rep.Rows < 1 || c.rep.MinDim < 2 {
			return fmt.Errorf("%w: to judge Cramer's V give option rows and option min-dim, the smaller number of categories", ErrData)
		}
		v, err := parseRounded("V", c.rep.CramerV)
		if err != nil {
			return err
		}
		of := func(x float64) float64 {
			return math.Sqrt(max(0, x) / float64(c.rep.Rows*(c.rep.MinDim-1)))
		}
		if err := c.add("cramer_v", of(chi.value), fmt.Sprintf("%d rows", c.rep.Rows)); err != nil {
			return err
		}
		if !v.overlaps(of(chi.low()), of(chi.high())) {
			c.res.warn("V %s does not belong to chi-square %s of %d rows: it is %s", c.rep.CramerV, c.rep.Chi2, c.rep.Rows, short(of(chi.value)))
		}
	}
	return nil
}
