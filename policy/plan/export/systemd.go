package export

func (m *maker) systemd() error { return nil }
