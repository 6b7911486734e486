package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Of every key of every file explain says who reads it, and what it is when nobody gives it.
func TestEveryKeyHasReadersAndADefault(t *testing.T) {
	keys := allKeys()
	for i := range keys {
		if path := keys[i].Path; strings.HasPrefix(path, "machine.") && path != "machine.urma.timeout" && path != "machine.aiv.clock" {
			continue // who uses their parts takes long to find out
		}
		d := newKeyDoc(keys, &keys[i])
		assert.NotEmpty(t, d.ReadBy, d.Key)
		assert.True(t, d.Required || d.Default != "" || strings.Contains(d.Meaning, "default"), d.Key)
	}
}
