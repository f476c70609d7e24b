package stats

import "math"

// KolmogorovSF returns P(K > x) of the limiting Kolmogorov distribution,
// 2*Σ_{i>=1} (-1)^(i-1) exp(-2i²x²), for small x through the equivalent theta series, whose
// terms fall off there. It is 1 for x <= 0.
func KolmogorovSF(x float64) float64 {
	if x <= 0 {
		return 1
	}
	const terms = 100
	sum := 0.0
	if x < 0.8 {
		for i := 1; i <= terms; i++ {
			k := float64(2*i-1) * math.Pi / x
			sum += math.Exp(-k * k / 8)
		}
		return 1 - float64(math.Sqrt(2*math.Pi)/x*sum)
	}
	sign := 1.0
	for i := 1; i <= terms; i++ {
		k := float64(i) * x
		sum += float64(sign * math.Exp(-2*k*k))
		sign = -sign
	}
	return min(1, 2*sum)
}

// kolmogorovFiniteSF returns P(D_n >= d) of the one-sample two-sided Kolmogorov-Smirnov
// statistic for n >= 1. The choice of method follows Simard and L'Ecuyer, J. Stat. Softw. 39
// (2011), as scipy's kstwo does: exact where it is cheap, in the tail twice the one-sided
// probability (exact to all digits there), in the middle for large n the Pelz-Good expansion.
func kolmogorovFiniteSF(d float64, n int) float64 {
	nf := float64(n)
	t := float64(nf * d)
	switch {
	case d >= 1:
		return 0
	case t <= 0.5:
		return 1
	case t <= 1:
		lg, _ := math.Lgamma(nf + 1)
		return 1 - math.Exp(lg-float64(nf*math.Log(nf))+float64(nf*math.Log(2*t-1)))
	case t >= nf-1:
		return 2 * math.Pow(1-d, nf)
	case d >= 0.5:
		return 2 * smirnovSF(d, n)
	}
	nd2 := t * d
	tail, matrix := 4.0, true
	if n > 140 {
		tail = 2.2
		matrix = n <= 100_000 && nf*math.Pow(d, 1.5) <= 1.4
	}
	switch {
	case nd2 > tail:
		return min(1, 2*smirnovSF(d, n))
	case matrix:
		return clamp01(1 - kolmogorovMatrixCDF(d, n))
	default:
		return clamp01(1 - pelzGoodCDF(d, n))
	}
}

func clamp01(p float64) float64 { return min(1, max(0, p)) }

// smirnovSF returns P(D_n+ >= d) of the one-sided statistic (Birnbaum and Tingey 1951):
// (1-d)^n + d Σ_{j=1..floor(n(1-d))} C(n,j) (d+j/n)^(j-1) (1-d-j/n)^(n-j).
func smirnovSF(d float64, n int) float64 {
	nf := float64(n)
	lgN, _ := math.Lgamma(nf + 1)
	sum := math.Pow(1-d, nf)
	for j := 1; j <= int(nf*(1-d)); j++ {
		jf := float64(j)
		rest := 1 - d - jf/nf
		if rest <= 0 {
			continue
		}
		lgJ, _ := math.Lgamma(jf + 1)
		lgK, _ := math.Lgamma(nf - jf + 1)
		sum += float64(d * math.Exp(lgN-lgJ-lgK+float64((jf-1)*math.Log(d+jf/nf))+float64((nf-jf)*math.Log(rest))))
	}
	return sum
}

// kolmogorovMatrixCDF returns P(D_n < d) exactly: Durbin's matrix power in the form of
// Marsaglia, Tsang and Wang, J. Stat. Softw. 8 (2003). The matrix has order 2*ceil(n*d)-1.
func kolmogorovMatrixCDF(d float64, n int) float64 {
	t := float64(float64(n) * d)
	k := int(t) + 1
	m := 2*k - 1
	h := float64(k) - t
	a := newSquare(m)
	for i := range m {
		for j := range min(i+2, m) {
			a.v[i*m+j] = 1
		}
	}
	for i := range m {
		a.v[i*m] -= math.Pow(h, float64(i+1))
		a.v[(m-1)*m+i] -= math.Pow(h, float64(m-i))
	}
	if 2*h > 1 {
		a.v[(m-1)*m] += math.Pow(2*h-1, float64(m))
	}
	for i := range m {
		f := 1.0
		for j := i; j >= 0; j-- {
			f *= float64(i - j + 1)
			a.v[i*m+j] /= f
		}
	}
	p := a.power(n)
	value, exp := p.v[(k-1)*m+k-1], p.exp
	for i := 1; i <= n; i++ {
		value *= float64(i) / float64(n)
		if value < 1e-140 {
			value, exp = math.Ldexp(value, 512), exp-512
		}
	}
	return math.Ldexp(value, exp)
}

// square is an m by m matrix times 2^exp.
type square struct {
	m   int
	v   []float64
	exp int
}

func newSquare(m int) square { return square{m: m, v: make([]float64, m*m)} }

func (a square) power(n int) square {
	if n == 1 {
		return a
	}
	half := a.power(n / 2)
	p := half.times(half)
	if n%2 == 1 {
		p = p.times(a)
	}
	return p
}

func (a square) times(b square) square {
	c := newSquare(a.m)
	c.exp = a.exp + b.exp
	for i := range a.m {
		row := c.v[i*a.m : (i+1)*a.m]
		for k := range a.m {
			f := a.v[i*a.m+k]
			for j, v := range b.v[k*a.m : (k+1)*a.m] {
				row[j] += float64(f * v)
			}
		}
	}
	if mid := c.v[(a.m/2)*a.m+a.m/2]; mid > 1e140 {
		for i := range c.v {
			c.v[i] = math.Ldexp(c.v[i], -512)
		}
		c.exp += 512
	}
	return c
}

// pelzGoodCDF returns P(D_n < d) by the expansion of Pelz and Good, J. R. Stat. Soc. B 38
// (1976), up to n^(-3/2); the error is of order n^(-2), at most 0.08/n² against the matrix
// method.
func pelzGoodCDF(d float64, n int) float64 {
	z := math.Sqrt(float64(n)) * d
	z2 := float64(z * z)
	z4, z6, z8 := z2*z2, z2*z2*z2, z2*z2*z2*z2
	const pi2 = math.Pi * math.Pi
	var k0, k1, k2, k3, whole2, whole3 float64
	for k := 20; k >= 0; k-- {
		h := float64(k) + 0.5
		a := float64(pi2 * h * h) // π²(k+1/2)²
		e := math.Exp(-a / (2 * z2))
		k0 += e
		k1 += float64((a - z2) * e)
		k2 += float64((float64(6*z6) + 2*z4 + float64(a*(2*z4-float64(5*z2))) + float64(a*a*(1-2*z2))) * e)
		k3 += float64((float64(a*a*a*(5-float64(30*z2))) + float64(a*a*(float64(212*z4)-float64(60*z2))) +
			float64(a*(float64(135*z4)-float64(96*z6))) - float64(30*z6) - float64(90*z8)) * e)
		b := pi2 * float64(k*k) // π²k²
		f := math.Exp(-b / (2 * z2))
		whole2 += float64(b * f)
		whole3 += float64((float64(3*b*z2) - float64(b*b)) * f)
	}
	// Each sum over all integers is twice the sum over k >= 0.
	root := math.Sqrt(math.Pi/2) * 2
	k0 = float64(k0 * root / z)
	k1 *= root / (6 * z4)
	k2 = float64(root/(72*z4*z2*z)*k2) - float64(root/(36*z2*z)*whole2)
	k3 = float64(root/(6480*z8*z2)*k3) + float64(root/(216*z6)*whole3)
	s := math.Sqrt(float64(n))
	return k0 + k1/s + k2/float64(n) + k3/(float64(n)*s)
}
