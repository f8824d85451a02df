package disclosure

// besides is the sentence for the operator if a model and sums together reveal few people.
const besides = "one to nine people came, went or changed between this job and the earlier one, in all or in one class: the model and the sums together tell about these few alone"

// compareSummed compares a model with earlier sums over some of the same people, or sums with earlier models. If the
// sums are over all people of a model but a few, their difference from the model's equations tells about the few alone.
func (l Ledger) compareSummed(c *comparison) error {
	for _, h := range c.others {
		if !c.now.Kind.Summed() || !h.Kind.Summed() {
			continue
		}
		var said []string
		switch {
		case c.now.editionsOfOneTable(h.Entry):
			said = c.now.revealsFewOfEditions(h.Entry)
		case c.now.otherTable(h.Entry):
			if err := l.compareTables(c, h); err != nil {
				return err
			}
		case h.Edition != "":
			c.note(h, []string{unlisted})
		default:
			var err error
			if said, err = l.revealsFewRows(c, h); err != nil {
				return err
			}
		}
		if len(said) > 0 {
			c.note(h, []string{besides})
		}
	}
	return nil
}

// revealsFewRows does the work of [Entry.revealsFew] for an earlier release of another kind that lists its rows.
// Changed values and labels count if both have the same columns.
func (l Ledger) revealsFewRows(c *comparison, h head) ([]string, error) {
	earlier, err := l.read(h.file)
	if err != nil {
		return nil, err
	}
	if err := c.loadRows(); err != nil {
		return nil, err
	}
	if c.now.sameColumns(h.Entry) {
		return c.now.revealsSameSettings(earlier, false), nil
	}
	return c.now.revealsFew(earlier, c.now.meet(earlier)), nil
}
