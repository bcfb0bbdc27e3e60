package api

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
)

type serverJSON struct {
	Build       buildJSON  `json:"build"`
	State       string     `json:"state"`
	Address     string     `json:"address,omitempty"`
	StartedAt   jsonTime   `json:"startedAt"`
	UpSeconds   seconds    `json:"upSeconds"`
	SnapshotAge seconds    `json:"snapshotAgeSeconds"`
	Brokers     int        `json:"brokers"`
	Topics      int        `json:"topics"`
	Connections int        `json:"connections"`
	UnsentBytes int64      `json:"unsentBytes"`
	LastEvent   uint64     `json:"lastEvent"`
	Drain       *drainJSON `json:"drain,omitempty"`
}

type buildJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
}

type drainJSON struct {
	Rounds int64 `json:"rounds"`
	Ended  int64 `json:"endedConnections"`
}

// build is what the binary says of itself.
var build = sync.OnceValue(func() (b buildJSON) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version, b.Go = info.Main.Version, info.GoVersion
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
})

// server tells of the server as a whole.
func (r *request) server() error {
	st, snapshot := r.src.Status(), r.src.Snapshot()
	s := serverJSON{
		Build: build(), State: st.State.String(), Address: st.Addr,
		StartedAt: jsonTime(time.Now().Add(-st.Up)), UpSeconds: seconds(st.Up), SnapshotAge: seconds(st.SnapshotAge),
		Brokers: snapshot.Brokers(), Topics: snapshot.Topics(), Connections: st.Connections, UnsentBytes: st.UnsentBytes,
		LastEvent: r.src.Events(0, 0, nil).Newest,
	}
	if st.State >= namesrv.Draining {
		s.Drain = &drainJSON{st.Drain.Rounds, st.Drain.Ended}
	}
	r.write(s)
	return nil
}

// config shows the settings as GET_NAMESRV_CONFIG does.
func (r *request) config() error {
	type entry struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	r.begin("config")
	for key, value := range r.src.Config() {
		r.item(entry{key, value})
	}
	r.end(nil)
	return nil
}
