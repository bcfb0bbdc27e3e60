package settings

// lifeKeys are ours: how a broker's death is noticed otherwise than by its silence. Whoever may send UPDATE_NAMESRV_CONFIG could keep live
// brokers out with them, so it can't change them.
var lifeKeys = []Key{
	{Name: "brokerKeepAliveSeconds", Default: "0", Effect: AtRestart, protected: true, Max: 3600,
		field:   func(s *Settings) any { return &s.BrokerKeepAliveSeconds },
		Meaning: "A broker's connection that nothing has come on for so long is probed by the kernel (TCP keepalive), and ended once the other host has confirmed nothing for as long again: it finds a host that is gone, not a process that hangs. In a partition of that length the broker goes; nothing has told it, so its next registration is lost in the dead connection, and it comes back with the one after (up to 60 s). 0, Apache's way: only the heartbeat timeout."},
	{Name: "peerOfflineProbe", Default: "true", Effect: AtRestart, protected: true,
		field:   func(s *Settings) any { return &s.PeerOfflineProbe },
		Meaning: "With `peers`: a broker that another nameserver has lost is probed from here at once, whatever `probeIntervalMillis` says. For that each broker is probed once after it has registered. What a peer knows from probes alone removes it only with `probeRemoves` here, too."},
	{Name: "probeAllowList", Effect: AtRestart, protected: true, check: checkAllowList,
		field:   func(s *Settings) any { return &s.ProbeAllowList },
		Meaning: "Addresses and networks (CIDR), separated by commas, that brokers may be probed at besides the address that their registration comes from (any of this machine's, if it comes from this machine). Others are never connected to, so that whoever may register can't have this server try ports for him; such brokers are shown (`probe` of `/api/v1/brokers`), counted and never removed by probes. Needed where brokers connect through a gateway or register other addresses than they connect from. Where `proxyProtocolTrusted` is empty, what a PROXY header says is no such address."},
	{Name: "probeFailuresToSuspect", Default: "3", Effect: AtRestart, protected: true, Min: 1, Max: 100,
		field:   func(s *Settings) any { return &s.ProbeFailuresToSuspect },
		Meaning: "Failed probes in a row that make a broker suspect, if it has answered one before."},
	{Name: "probeIntervalMillis", Default: "0", Effect: AtRestart, protected: true, Max: 3_600_000,
		field:   func(s *Settings) any { return &s.ProbeIntervalMillis },
		Meaning: "How often each broker is asked at its registered address whether it is there (`GET_SYSTEM_TOPIC_LIST_FROM_BROKER`); after a failure every second. 0: never."},
	{Name: "probeRemoveAfterMillis", Default: "40000", Effect: AtRestart, protected: true, Min: 1000, Max: 3_600_000,
		field:   func(s *Settings) any { return &s.ProbeRemoveAfterMillis },
		Meaning: "With `probeRemoves`: how long a suspect broker stays without any sign of life. Below the brokers' registration period (30 s) one that can no longer be reached from here may go although it lives, until it registers again, unless a peer that reaches it says so."},
	{Name: "probeRemoves", Default: "false", Effect: AtRestart, protected: true,
		field:   func(s *Settings) any { return &s.ProbeRemoves },
		Meaning: "Whether a broker that doesn't answer probes is removed before its heartbeat timeout. One that has never answered from here, or that shows life while it doesn't answer, never is."},
	{Name: "probeTimeoutMillis", Default: "1000", Effect: AtRestart, protected: true, Min: 10, Max: 60_000,
		field:   func(s *Settings) any { return &s.ProbeTimeoutMillis },
		Meaning: "How long a probe waits for its connection and answer."},
}
