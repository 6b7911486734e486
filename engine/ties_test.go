package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// noter is one of several handlers that note when they are woken, and may wake another
// at the same instant.
type noter struct {
	id  int
	log *[]noted
	e   *Engine
	all []*noter
}

type noted struct {
	id  int
	at  Time
	arg uint64
}

func (n *noter) Handle(arg uint64) {
	*n.log = append(*n.log, noted{n.id, n.e.Now(), arg})
	if arg%3 == 1 && arg < 100 {
		n.e.After(0, n.all[(n.id+1)%len(n.all)], arg+100)
	}
}

// inOrder runs events of several handlers and returns how they were handled.
func inOrder(t require.TestingT, ties uint64, events []noted) (log []noted) {
	e := New(Options{Ties: ties})
	all := make([]*noter, 4)
	for i := range all {
		all[i] = &noter{i, &log, e, all}
	}
	for _, x := range events {
		e.At(x.at, all[x.id], x.arg)
	}
	require.NoError(t, e.Run())
	return log
}

func TestTiesAreDrawnAnewAndEachHandlersEventsStayInOrder(t *testing.T) {
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		var events []noted
		for i := range rapid.IntRange(1, 30).Draw(t, "events") {
			events = append(events, noted{rapid.IntRange(0, 3).Draw(t, "handler"), Time(rapid.IntRange(0, 3).Draw(t, "time")), uint64(i)})
		}
		seed := rapid.Uint64Min(1).Draw(t, "seed")
		plain, drawn := inOrder(t, 0, events), inOrder(t, seed, events)
		require.Equal(t, drawn, inOrder(t, seed, events), "a seed is an order")
		require.ElementsMatch(t, plain, drawn)
		place := map[noted]int{}
		for i, x := range drawn {
			place[x] = i
			require.True(t, i == 0 || drawn[i-1].at <= x.at)
		}
		for _, x := range events {
			for _, y := range events {
				if x.id == y.id && x.at == y.at && x.arg < y.arg {
					require.Less(t, place[x], place[y], "of one handler")
				}
			}
			if x.arg%3 == 1 {
				require.Less(t, place[x], place[noted{(x.id + 1) % 4, x.at, x.arg + 100}], "a cause comes first")
			}
		}
		if !assert.ObjectsAreEqual(plain, drawn) {
			changed++
		}
	})
	assert.Positive(t, changed)
}
