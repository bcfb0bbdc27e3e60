package core

// RouteTexts are the texts that the snapshot's readers have encoded and kept.
func (s *Snapshot) RouteTexts() map[*routeText]bool {
	kept := map[*routeText]bool{}
	for i := range s.texts.slots {
		if r := s.texts.slots[i].Load(); r != nil {
			kept[r] = true
		}
	}
	return kept
}

// Cells are those of all live brokers.
func (s *Snapshot) Cells() (cells []*LiveCell) {
	for _, l := range s.live.All() {
		cells = append(cells, l.Cell)
	}
	return cells
}
