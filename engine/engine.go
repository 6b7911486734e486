// Package engine is the discrete-event kernel.
package engine
