package export

func (m *maker) kubernetes() error { return nil }
