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
