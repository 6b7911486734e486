package routing

// nearest is the word of a list that takes the fewest edits to reach (Levenshtein); the first of several.
func nearest(word string, list []string) string {
	best, least := "", -1
	for _, w := range list {
		if d := edits(word, w); least < 0 || d < least {
			best, least = w, d
		}
	}
	return best
}

func edits(a, b string) int {
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
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
