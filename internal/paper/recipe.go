package paper

import (
	"strings"
)

// Basis is what a figure was recomputed from.
type Basis string

// The bases.
const (
	FromColumns Basis = "published columns"
	FromStates  Basis = "published columns and states"
	FromTasks   Basis = "published task table"
	FromGraphs  Basis = "shipped references"
	FromCells   Basis = "the paper's own figures"
	FromTools   Basis = "tool registry"
	FromFormula Basis = "the paper's formula"
	FromRebuild Basis = "rebuild"
	FromNothing Basis = ""
)

// recipe recomputes a figure from an environment.
type recipe struct {
	run     func(e *env, a args) (Value, error)
	basis   Basis
	columns bool     // whether it reads the 40 columns, so that a rebuilt table says something too
	keys    []string // arguments; a trailing dot takes conditions under that prefix, "*" plain ones
}

// conditionKeys are the arguments that choose runs.
var conditionKeys = []string{"id", "model", "task", "passed", "tier", "category", "failure", "positive", "zero"}

func (r recipe) takes(key string) bool {
	for _, k := range r.keys {
		prefix, isPrefix := strings.CutSuffix(k, ".")
		switch {
		case k == key:
			return true
		case k == "*":
			prefix = ""
		case !isPrefix:
			continue
		default:
			prefix += "."
		}
		for _, c := range conditionKeys {
			if key == prefix+c {
				return true
			}
		}
	}
	return false
}

// unreleased is the missing data of figures nothing can be said about; the figure's own
// reason says what they would be.
const unreleased missing = "unreleased"

// recipes by the name the list of figures uses.
var recipes = map[string]recipe{
	"none": {run: func(*env, args) (Value, error) { return Value{}, unreleased }, basis: FromNothing},

	"count":       {run: count, basis: FromColumns, columns: true, keys: []string{"*"}},
	"share":       {run: share, basis: FromColumns, columns: true, keys: []string{"*", "base."}},
	"distinct":    {run: distinct, basis: FromColumns, columns: true, keys: []string{"column", "*"}},
	"mean":        {run: mean, basis: FromColumns, columns: true, keys: []string{"column", "*"}},
	"extreme":     {run: extreme, basis: FromColumns, columns: true, keys: []string{"of", "column", "*"}},
	"value":       {run: value, basis: FromColumns, columns: true, keys: []string{"column", "id"}},
	"text":        {run: textCell, basis: FromColumns, columns: true, keys: []string{"column", "id"}},
	"category":    {run: category, basis: FromStates, columns: true, keys: []string{"id"}},
	"rank":        {run: rank, basis: FromColumns, columns: true, keys: []string{"by", "model"}},
	"rank_shift":  {run: rankShift, basis: FromColumns, columns: true, keys: []string{"of"}},
	"cut":         {run: cut, basis: FromColumns, columns: true, keys: []string{"below", "above"}},
	"top_models":  {run: topModels, basis: FromColumns, columns: true, keys: []string{"n", "*"}},
	"top_tasks":   {run: topTasks, basis: FromColumns, columns: true, keys: []string{"n", "*"}},
	"curate":      {run: curate, basis: FromColumns, columns: true, keys: []string{"n", "of"}},
	"association": {run: association, basis: FromStates, columns: true, keys: []string{"of", "column", "*"}},
	"match":       {run: matchCount, basis: FromColumns, columns: true, keys: []string{"of", "id"}},
	"auroc":       {run: auroc, basis: FromColumns, columns: true, keys: []string{"column"}},
	"ks_p":        {run: ksP, basis: FromColumns, columns: true, keys: []string{"column"}},
	"accuracy":    {run: accuracy, basis: FromColumns, columns: true, keys: []string{"column", "threshold", "percent"}},
	"f1":          {run: f1, basis: FromColumns, columns: true, keys: []string{"column", "threshold"}},
	"youden":      {run: youden, basis: FromColumns, columns: true, keys: []string{"column"}},

	"tokens": {run: tokens, basis: FromStates, columns: true, keys: []string{"of", "*"}},
	"stages": {run: stages, basis: FromStates, keys: []string{"id"}},
	"calls":  {run: calls, basis: FromStates, keys: []string{"tool", "id"}},

	"task_column": {run: taskColumn, basis: FromTasks, keys: []string{"column"}},
	"reference":   {run: reference, basis: FromGraphs, keys: []string{"column", "task"}},

	"ratio":      {run: ratio, basis: FromStates, columns: true, keys: []string{"a", "b", "percent"}},
	"product":    {run: product, basis: FromStates, columns: true, keys: []string{"a", "b"}},
	"difference": {run: difference, basis: FromStates, columns: true, keys: []string{"a", "b"}},

	"tool.stage":      {run: toolStage, basis: FromTools, keys: []string{"tool"}},
	"tool.comparison": {run: toolComparison, basis: FromTools, keys: []string{"tool"}},

	"moves":        {run: moves, basis: FromFormula, keys: []string{"stages", "of"}},
	"eq2":          {run: eq2, basis: FromFormula, keys: []string{"stages", "retries"}},
	"permutations": {run: permutations, basis: FromFormula, keys: []string{"k"}},

	"cells.same":           {run: cellsSame, basis: FromCells, keys: []string{"id"}},
	"cells.sum":            {run: cellsSum, basis: FromCells, keys: []string{"ids"}},
	"cells.product":        {run: cellsProduct, basis: FromCells, keys: []string{"ids"}},
	"cells.mean":           {run: cellsMean, basis: FromCells, keys: []string{"ids"}},
	"cells.one_minus_mean": {run: cellsOneMinusMean, basis: FromCells, keys: []string{"ids"}},
	"cells.diff":           {run: cellsDiff, basis: FromCells, keys: []string{"a", "b"}},
	"cells.ratio":          {run: cellsRatio, basis: FromCells, keys: []string{"a", "b", "percent"}},
	"cells.f1":             {run: cellsF1, basis: FromCells, keys: []string{"p", "r"}},
	"cells.f1of":           {run: cellsF1Of, basis: FromCells, keys: []string{"rn", "rd", "pn", "pd"}},
	"cells.recall":         {run: cellsRecall, basis: FromCells, keys: []string{"weights", "values"}},
	"cells.count":          {run: cellsCount, basis: FromCells, keys: []string{"prefix", "suffix"}},
	"cells.yes":            {run: cellsYes, basis: FromCells, keys: []string{"prefix", "suffix"}},

	"orders.sd":        {run: ordersSD, basis: FromCells, keys: []string{"combo"}},
	"orders.invariant": {run: ordersInvariant, basis: FromCells, keys: []string{"combo"}},
	"orders.mean":      {run: ordersMean, basis: FromCells},
	"orders.total_sd":  {run: ordersTotalSD, basis: FromCells},
	"orders.perfect":   {run: ordersPerfect, basis: FromCells},
	"orders.selection": {run: ordersSelection, basis: FromCells},
	"orders.order":     {run: ordersOrder, basis: FromCells},

	"draws": {run: nil, basis: FromRebuild, keys: []string{"of", "column", "threshold", "percent", "simulate"}},
}
