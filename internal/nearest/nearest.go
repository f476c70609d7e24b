package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// Names returns up to three of the names that a misspelled one may stand for, best first.
func Names(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	want := strings.ToLower(name)
	for _, n := range names {
		have := strings.ToLower(n)
		d := Distance(want, have)
		_, unqualified, _ := strings.Cut(have, ".")
		switch {
		case d <= max(1, len(want)/4):
		case unqualified == want, len(want) >= 3 && strings.Contains(have, want), len(have) >= 3 && strings.Contains(want, have):
			d = max(d, len(want)) // a part of the name: after every misspelling
		default:
			continue
		}
		found = append(found, candidate{n, d})
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var near []string
	for _, c := range found[:min(3, len(found))] {
		near = append(near, c.name)
	}
	return near
}

// Distance is the number of bytes to insert, remove or replace that turn a into b
// (Levenshtein's distance).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
