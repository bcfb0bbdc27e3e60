package api

import (
	"time"

	"github.com/waymark-mq/waymark/internal/build"
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
	Revision string `json:"revision"`
	Go       string `json:"go"`
}

type drainJSON struct {
	Rounds int64 `json:"rounds"`
	Ended  int64 `json:"endedConnections"`
}

func buildOf(b build.Info) buildJSON { return buildJSON{b.Version, b.Revision, b.Go} }

// server tells of the server as a whole.
func (r *request) server() error {
	st, snapshot := r.src.Status(), r.src.Snapshot()
	s := serverJSON{
		Build: buildOf(build.Read()), State: st.State.String(), Address: st.Addr,
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

// config shows the settings as GET_NAMESRV_CONFIG does, and when a change of each begins to work.
func (r *request) config() error {
	type entry struct {
		Key          string  `json:"key"`
		Value        string  `json:"value"`
		NeedsRestart bool    `json:"needsRestart,omitempty"`
		Running      *string `json:"running,omitempty"` // what the server works with until it is restarted
	}
	r.begin("config")
	for s := range r.src.Config() {
		e := entry{Key: s.Key, Value: s.Value, NeedsRestart: s.NeedsRestart}
		if s.NeedsRestart && s.Running != s.Value {
			e.Running = &s.Running
		}
		r.item(e)
	}
	r.end(nil)
	return nil
}
