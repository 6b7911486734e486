package configs

import (
	"fmt"
	"strings"
)

// Nearest returns the known word that a user most likely meant by word, or ""
// when none is alike. Likeness is the number of letters to insert, drop,
// replace or swap, whatever their case: at most a third of the word. A word
// that is part of a known one is alike too. Of equals the first wins.
func Nearest(word string, known []string) string {
	w := []rune(strings.ToLower(word))
	if len(w) == 0 || len(w) > 64 {
		return ""
	}
	limit := min(max(1, len(w)/3), len(w)-1)
	best, least := "", limit+2
	for _, k := range known {
		lower := strings.ToLower(k)
		d := distance(w, []rune(lower))
		if d > limit && len(w) > 2 && strings.Contains(lower, string(w)) {
			d = limit + 1
		} else if d > limit {
			continue
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the edits between two words, where swapping two neighbours
// is one edit: the optimal string alignment distance.
func distance(a, b []rune) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			replace := row[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			next[j] = min(replace, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// hint is the end of a message about an unknown word; empty when no known one is near.
func hint(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// hintOrList names the nearest word, or all of them when none is near.
func hintOrList(word string, known []string) string {
	if h := hint(word, known); h != "" {
		return h
	}
	if len(known) == 0 {
		return "; there is none"
	}
	return "; known: " + strings.Join(known, ", ")
}
