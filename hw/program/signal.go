package program

// Waits reports whether the op waits for signal cells.
func (o *Op) Waits() bool { return o.Kind == Wait || o.Kind == WaitPeers }

// Clears reports whether the op takes credits back from the own cells.
func (o *Op) Clears() bool {
	return o.Kind == AddPeers || o.Kind == Notify && o.Value.C < 0
}

// Notifies reports whether the op gives credits, to peers or to the own rank.
func (o *Op) Notifies() bool {
	return (o.Kind == Notify || o.Kind == NotifyPeers) && !o.Clears()
}

// Signals reports whether the op uses signal cells.
func (o *Op) Signals() bool { return o.Notifies() || o.Waits() || o.Clears() }
