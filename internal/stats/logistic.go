package stats

import "math"

// Logistic is a fitted logistic regression. A row x has probability
// 1/(1+exp(-(Intercept + Σ Coef[j]*(x[j]-Mean[j])/Scale[j]))).
type Logistic struct {
	Intercept  float64
	Coef       []float64 // per standard deviation of the feature
	Mean       []float64
	Scale      []float64 // standard deviation, divisor n
	LogLoss    float64   // mean over the rows fitted, nats, without the penalty
	Iterations int
}

const (
	logisticMaxIter = 100
	logisticTol     = 1e-10
)

// FitLogistic minimises Σ logloss + l2/2*Σ coef² by Newton's method with step halving
// (iteratively reweighted least squares). x is rows by features; features are standardised
// first and the intercept is not penalised, so l2 = 1 is scikit-learn's default C = 1 on
// standardised data. One class or a constant feature is undefined, and so are classes that a
// hyperplane separates when l2 = 0: the coefficients would grow without bound.
func FitLogistic(x [][]float64, positive []bool, l2 float64) (Logistic, error) {
	if err := checkLength("rows", len(x), "labels", len(positive)); err != nil {
		return Logistic{}, err
	}
	if !(l2 >= 0) || math.IsInf(l2, 0) {
		return Logistic{}, invalid("penalty %v is not a number >= 0", l2)
	}
	npos := 0
	for _, p := range positive {
		if p {
			npos++
		}
	}
	if npos == 0 || npos == len(positive) {
		return Logistic{}, oneClass(npos, len(positive)-npos)
	}
	m, z, err := standardise(x)
	if err != nil {
		return Logistic{}, err
	}
	width := len(m.Mean) + 1 // the intercept comes last
	beta := make([]float64, width)
	beta[width-1] = math.Log(float64(npos) / float64(len(x)-npos))
	objective := func(b []float64) float64 {
		loss := 0.0
		for i, row := range z {
			loss += softplus(linear(b, row), positive[i])
		}
		for _, c := range b[:width-1] {
			loss += float64(l2 / 2 * c * c)
		}
		return loss
	}
	loss := objective(beta)
	for m.Iterations = 1; ; m.Iterations++ {
		if m.Iterations > logisticMaxIter {
			return Logistic{}, undefined("the fit does not converge: the features separate the classes; use a penalty above 0")
		}
		gradient, hessian := derivatives(beta, z, positive, l2)
		step, ok := solveCholesky(hessian, gradient)
		if !ok {
			return Logistic{}, undefined("the features are linearly dependent or separate the classes; use a penalty above 0")
		}
		next := make([]float64, width)
		size, scale := 0.0, 1.0
		for range 40 {
			size = 0
			for j := range next {
				next[j] = beta[j] - float64(scale*step[j])
				size = max(size, math.Abs(scale*step[j]))
			}
			if l := objective(next); l <= loss || size < logisticTol {
				loss = l
				break
			}
			scale /= 2
		}
		beta = next
		if size < logisticTol {
			break
		}
	}
	m.Coef, m.Intercept = beta[:width-1], beta[width-1]
	fit := 0.0
	for i, row := range z {
		fit += softplus(linear(beta, row), positive[i])
	}
	m.LogLoss = fit / float64(len(z))
	return m, nil
}

// Predict returns the probability of the positive class for one row of features in their
// original units.
func (m Logistic) Predict(row []float64) (float64, error) {
	if len(row) != len(m.Coef) {
		return 0, invalid("%d features, the model has %d", len(row), len(m.Coef))
	}
	if err := checkFinite("feature", row); err != nil {
		return 0, err
	}
	t := m.Intercept
	for j, v := range row {
		t += float64(m.Coef[j] * (v - m.Mean[j]) / m.Scale[j])
	}
	return sigmoid(t), nil
}

func standardise(x [][]float64) (Logistic, [][]float64, error) {
	width := len(x[0])
	m := Logistic{Mean: make([]float64, width), Scale: make([]float64, width)}
	column := make([]float64, len(x))
	z := make([][]float64, len(x))
	for i, row := range x {
		if len(row) != width {
			return Logistic{}, nil, invalid("row %d has %d features, row 0 has %d", i, len(row), width)
		}
		if err := checkFinite("feature", row); err != nil {
			return Logistic{}, nil, err
		}
		z[i] = make([]float64, width)
	}
	for j := range width {
		for i, row := range x {
			column[i] = row[j]
		}
		if constant(column) {
			return Logistic{}, nil, undefined("feature %d is constant; leave it out", j)
		}
		mean, m2, _, _ := centralMoments(column)
		if _, err := inRange(1 / m2); err != nil || math.IsInf(m2, 0) {
			return Logistic{}, nil, undefined("feature %d has variance %v; rescale it", j, m2)
		}
		m.Mean[j], m.Scale[j] = mean, math.Sqrt(m2)
		for i := range x {
			z[i][j] = (column[i] - mean) / m.Scale[j]
		}
	}
	return m, z, nil
}

func linear(b, row []float64) float64 {
	t := b[len(row)]
	for j, v := range row {
		t += float64(b[j] * v)
	}
	return t
}

func sigmoid(t float64) float64 {
	if t >= 0 {
		return 1 / (1 + math.Exp(-t))
	}
	e := math.Exp(t)
	return e / (1 + e)
}

// softplus returns the log loss of log-odds t.
func softplus(t float64, positive bool) float64 {
	if positive {
		t = -t
	}
	return max(t, 0) + math.Log1p(math.Exp(-math.Abs(t)))
}

// derivatives returns the gradient and the Hessian (row-major) of the penalised loss.
func derivatives(beta []float64, z [][]float64, positive []bool, l2 float64) (gradient, hessian []float64) {
	width := len(beta)
	gradient, hessian = make([]float64, width), make([]float64, width*width)
	at := func(row []float64, j int) float64 {
		if j == len(row) {
			return 1
		}
		return row[j]
	}
	for i, row := range z {
		p := sigmoid(linear(beta, row))
		residual := p
		if positive[i] {
			residual = p - 1
		}
		w := p * (1 - p)
		for j := range width {
			gradient[j] += float64(residual * at(row, j))
			for k := range j + 1 {
				hessian[j*width+k] += float64(w * at(row, j) * at(row, k))
			}
		}
	}
	for j := range width - 1 {
		gradient[j] += float64(l2 * beta[j])
		hessian[j*width+j] += l2
	}
	return gradient, hessian
}

// solveCholesky solves a*x = b for a symmetric a given by its lower triangle, which it
// overwrites. It reports false when a is not positive definite. gonum's solver would do, but
// its assembly sums in an order that depends on the machine.
func solveCholesky(a, b []float64) ([]float64, bool) {
	n := len(b)
	for j := range n {
		pivot := a[j*n+j]
		for k := range j {
			a[j*n+j] -= float64(a[j*n+k] * a[j*n+k])
		}
		if !(a[j*n+j] > 1e-12*pivot) {
			return nil, false
		}
		a[j*n+j] = math.Sqrt(a[j*n+j])
		for i := j + 1; i < n; i++ {
			for k := range j {
				a[i*n+j] -= float64(a[i*n+k] * a[j*n+k])
			}
			a[i*n+j] /= a[j*n+j]
		}
	}
	x := make([]float64, n)
	for i := range n {
		x[i] = b[i]
		for k := range i {
			x[i] -= float64(a[i*n+k] * x[k])
		}
		x[i] /= a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= float64(a[k*n+i] * x[k])
		}
		x[i] /= a[i*n+i]
	}
	return x, true
}
