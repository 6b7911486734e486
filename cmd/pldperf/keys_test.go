package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryKeySaysWhatItMeans(t *testing.T) {
	keys := allKeys()
	require.Greater(t, len(keys), 200)
	for _, k := range keys {
		assert.NotEmpty(t, k.Doc, "%s has no help", k.Path)
	}
}

func TestEveryKeyIsFoundByItsOwnPath(t *testing.T) {
	keys := allKeys()
	for _, k := range keys {
		found := keys.find(k.Path)
		if assert.Len(t, found, 1, k.Path) {
			assert.Equal(t, plain(k.Path), plain(found[0].Path))
		}
	}
}

func TestKeysAreFoundWithoutTheirBeginningsAndByTheirLastPart(t *testing.T) {
	keys := allKeys()
	for word, want := range map[string]string{
		"urma.doorbell.issue": "machine.urma.doorbell.issue", "core_num": "call.core_num", "call.core_num": "call.core_num",
		"chain.0.call.op": "chain.[].call.op", "sweep.axes": "sweep.axes", "signals.3.row": "signals.[].row", "egress_cap": "machine.fabric.mesh.egress_cap machine.fabric.clos.egress_cap",
		"title": "title", "nothing": "", "": "", "0": "",
	} {
		var got []string
		for _, k := range keys.find(word) {
			got = append(got, k.Path)
		}
		assert.Equal(t, want, strings.Join(got, " "), word)
	}
}

func TestEveryConditionNamesAKeyOrAPartThatThereIs(t *testing.T) {
	keys := allKeys()
	n := 0
	for i := range keys {
		for _, w := range keys[i].When {
			n++
			if w.Path != "" {
				assert.Len(t, keys.find(w.Path), 1, "%s is read when %s", keys[i].Path, w.Path)
			}
		}
		assert.NotPanics(t, func() { newKeyDoc(keys, &keys[i]) }, keys[i].Path)
	}
	assert.Greater(t, n, 100)
}
