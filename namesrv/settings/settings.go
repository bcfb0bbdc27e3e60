package settings

import (
	"maps"
	"path/filepath"
	"strings"

	"github.com/waymark-mq/waymark/core"
)

// Settings are the values of all keys. The fields are named after the keys and
// explained in keys.go; sizes are bytes, times carry their unit.
type Settings struct {
	// Name server.
	RocketmqHome                         string // "" when not known
	KVConfigPath                         string
	ConfigStorePath                      string
	ProductEnvName                       string
	ClusterTest                          bool
	OrderMessageEnable                   bool
	ReturnOrderTopicConfigToBroker       bool
	ClientRequestThreadPoolNums          int
	DefaultThreadPoolNums                int
	ClientRequestThreadPoolQueueCapacity int
	DefaultThreadPoolQueueCapacity       int
	ScanNotActiveBrokerInterval          int64 // ms
	UnRegisterBrokerQueueCapacity        int
	SupportActingMaster                  bool
	EnableAllTopicList                   bool
	EnableTopicList                      bool
	NotifyMinBrokerIDChanged             bool
	EnableControllerInNamesrv            bool
	NeedWaitForService                   bool
	WaitSecondsForService                int
	DeleteTopicWithBrokerRegistration    bool
	ConfigBlackList                      string

	// Server network.
	BindAddress                        string
	ListenPort                         int
	ServerWorkerThreads                int
	ServerCallbackExecutorThreads      int
	ServerSelectorThreads              int
	ServerOnewaySemaphoreValue         int
	ServerAsyncSemaphoreValue          int
	ServerChannelMaxIdleTimeSeconds    int
	ServerSocketSndBufSize             int
	ServerSocketRcvBufSize             int
	WriteBufferHighWaterMark           int
	WriteBufferLowWaterMark            int
	ServerSocketBacklog                int
	ServerNettyWorkerGroupEnable       bool
	ServerPooledByteBufAllocatorEnable bool
	EnableShutdownGracefully           bool
	ShutdownWaitTimeSeconds            int
	UseEpollNativeSelector             bool

	// Client network: how brokers are called.
	ConnectTimeoutMillis               int
	ClientWorkerThreads                int
	ClientCallbackExecutorThreads      int
	ClientOnewaySemaphoreValue         int
	ClientAsyncSemaphoreValue          int
	ChannelNotActiveInterval           int64 // ms
	ScanAvailableNameSrv               bool
	ClientChannelMaxIdleTimeSeconds    int
	ClientSocketSndBufSize             int
	ClientSocketRcvBufSize             int
	ClientPooledByteBufAllocatorEnable bool
	ClientCloseSocketIfTimeout         bool
	UseTLS                             bool
	SocksProxyConfig                   string
	DisableCallbackExecutor            bool
	DisableNettyWorkerGroup            bool
	MaxReconnectIntervalTimeSeconds    int64
	EnableReconnectForGoAway           bool

	// Ours.
	AdminListen            string
	BrokerCloseGraceMillis int64 // ms
	ExpiryGuardPercent     int64
	ExpiryGuardMaxMillis   int64 // ms
	DrainSeconds           int
	EventLoops             int
	MaxConnections         int
	MaxInflatedBodyBytes   int
	NotReadyWithoutBrokers bool
	InputBudgetBytes       int64 // this and the next two: 0 follows the memory limit
	OutputBudgetBytes      int64
	WriteBudgetBytes       int64
	OrderConfStrict        bool
	ProxyProtocolTrusted   string
	RouteSnapshotPath      string // "": none

	RouteSnapshotIntervalMillis, RouteSnapshotGraceMillis, RouteSnapshotMaxAgeMillis int64

	// Ours: access, audit, logs, limits of one address.
	AdminAllowList, AdminAllowListMode   string
	BrokerAllowList, BrokerAllowListMode string
	ReadOnly                             bool
	ReadOnlyMode                         string
	AuditLogPath                         string // "": none
	AuditLogMaxMegabytes                 int
	AuditLogMaxBackups                   int
	LogDir                               string // "": standard error
	LogMaxMegabytes, LogMaxBackups       int
	LogLevel, LogFormat                  string
	MaxNewConnectionsPerSecondPerAddress int
	MaxMissesPerSecondPerAddress         int

	// Ours: brokers' lives beyond their heartbeats.
	BrokerKeepAliveSeconds int // 0: the kernel's keepalive is off
	PeerOfflineProbe       bool
	ProbeAllowList         string
	ProbeFailuresToSuspect int
	ProbeIntervalMillis    int64 // 0: no probes
	ProbeRemoveAfterMillis int64
	ProbeRemoves           bool
	ProbeTimeoutMillis     int64

	// Ours: the other nameservers.
	Peers                string
	PeerListenAddress    string // "": off
	PeerAdvertiseAddress string
	PeerKey              string
	PeerName             string
	KVSync               bool
	AdvertiseAddress     string
	AddressServerListen  string // "": off

	// listed are the keys that GET_NAMESRV_CONFIG shows beside those of the name
	// server and the server network: every other key of the file as it stood
	// there, and keys of ours that were set. Never written after construction.
	listed map[string]string
	// blackList are the names that UPDATE_NAMESRV_CONFIG refuses, read from
	// configBlackList at start. Never written after construction.
	blackList map[string]bool
}

// Default returns Apache's defaults. The files are below env.HomeDir, as
// Apache's are; without one they are relative to the working directory.
func Default(env Env) *Settings {
	s := &Settings{}
	for i := range keys {
		// The table's own defaults parse: a test holds that.
		_ = keys[i].set(s, keys[i].Default)
	}
	s.KVConfigPath = filepath.Join(env.HomeDir, "namesrv", "kvConfig.json")
	s.ConfigStorePath = filepath.Join(env.HomeDir, "namesrv", "namesrv.properties")
	s.RocketmqHome = env.RocketmqHome
	s.readBlackList()
	return s
}

// AdminAddr is the address of the HTTP side, "" for none, and whether somebody chose it.
func (s *Settings) AdminAddr() (addr string, chosen bool) {
	switch addr = trim(s.AdminListen); addr {
	case "0", "off":
		addr = ""
	}
	_, chosen = s.listed["adminListen"]
	return addr, chosen
}

func (s *Settings) readBlackList() {
	s.blackList = make(map[string]bool)
	for i := range keys {
		if keys[i].protected {
			s.blackList[keys[i].Name] = true
		}
	}
	for name := range strings.SplitSeq(s.ConfigBlackList, ";") {
		if name = trim(name); name != "" {
			s.blackList[name] = true
		}
	}
}

// clone copies s so that the copy's own maps may be changed before it is shared.
func (s *Settings) clone() *Settings {
	c := *s
	c.listed = maps.Clone(s.listed)
	if c.listed == nil {
		c.listed = make(map[string]string)
	}
	return &c
}

// Core returns the flags that the routing table works and answers with.
func (s *Settings) Core() core.Settings {
	return core.Settings{
		OrderMessageEnable:                s.OrderMessageEnable,
		ReturnOrderTopicConfigToBroker:    s.ReturnOrderTopicConfigToBroker,
		SupportActingMaster:               s.SupportActingMaster,
		NotifyMinBrokerIDChanged:          s.NotifyMinBrokerIDChanged,
		DeleteTopicWithBrokerRegistration: s.DeleteTopicWithBrokerRegistration,
		BrokerCloseGraceMillis:            s.BrokerCloseGraceMillis,
		ExpiryGuardPercent:                s.ExpiryGuardPercent,
		ExpiryGuardMaxMillis:              s.ExpiryGuardMaxMillis,
		OrderConfStrict:                   s.OrderConfStrict,
	}
}
