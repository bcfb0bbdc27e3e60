package core

import "slices"

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

// Suspects are the brokers held by the expiry guard, as cluster and address, sorted.
func (s *Snapshot) Suspects() (suspects []string) {
	for _, l := range s.live.All() {
		if _, suspect := l.Cell.Suspect(); suspect {
			suspects = append(suspects, l.ClusterName+" "+l.BrokerAddr)
		}
	}
	slices.Sort(suspects)
	return suspects
}

// Mappings is the number of topics with static mappings.
func (s *Snapshot) Mappings() int { return s.mappings.Len() }
