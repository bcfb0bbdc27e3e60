package archtest

const modulePath = "github.com/waymark-mq/waymark"

// Libraries from outside, by module: a rule that names one allows its packages.
const (
	compress   = "github.com/klauspost/compress"
	gnet       = "github.com/panjf2000/gnet/v2"
	memberlist = "github.com/hashicorp/memberlist"
	memlimit   = "github.com/KimMachineGun/automemlimit"
	bytebuffer = "github.com/valyala/bytebufferpool"
	sys        = "golang.org/x/sys" // cpu: how far apart cache lines are; unix: other network namespaces
	lumberjack = "gopkg.in/natefinch/lumberjack.v2"
	xsync      = "github.com/puzpuzpuz/xsync/v3"
	pkcs8      = "github.com/youmark/pkcs8"
	toml       = "github.com/BurntSushi/toml"
	xxhash     = "github.com/cespare/xxhash/v2"
	histogram  = "github.com/HdrHistogram/hdrhistogram-go"
	prometheus = "github.com/prometheus/client_golang"
	promText   = "github.com/prometheus/common"
	promModel  = "github.com/prometheus/client_model"
	cobra      = "github.com/spf13/cobra"
	syncx      = "golang.org/x/sync"
)

// rule says what the files of a package other than tests may import besides the
// standard library: packages of ours (below modulePath; a name that ends in /*
// stands for the packages directly below it) and libraries. Tests may import
// anything.
type rule struct {
	ours      []string
	libraries []string
}

// rules has every package of the module. Imports point downward: no package is
// named by one that it names itself.
var rules = map[string]rule{
	"codec":      {libraries: []string{compress}},
	"core/cow":   {},
	"core/wheel": {},
	"core":       {ours: []string{"codec", "core/*", "internal/invariants"}, libraries: []string{sys}},

	"remoting": {ours: []string{"codec"}},

	"netpoll": {ours: []string{"codec", "internal/linelimit"}, libraries: []string{gnet, bytebuffer, sys, xsync}},

	"namesrv/settings/properties": {},
	"namesrv/binread":             {},
	"namesrv/access":              {ours: []string{"codec", "internal/excerpt"}},
	"namesrv/logfile":             {libraries: []string{lumberjack}},
	"namesrv/ratelimit":           {},
	"namesrv/audit":               {ours: []string{"internal/excerpt", "namesrv/logfile"}},
	"namesrv/settings":            {ours: []string{"core", "internal/excerpt", "namesrv/access", "namesrv/settings/properties", "namesrv/storage"}},
	"namesrv/storage":             {},
	"namesrv/product":             {ours: []string{"codec", "remoting"}},
	"namesrv/verdict":             {ours: []string{"codec", "core", "namesrv/access"}},
	"namesrv/probe":               {ours: []string{"codec", "namesrv/access", "namesrv/verdict", "remoting"}},
	"namesrv/routesnapshot":       {ours: []string{"codec", "core", "namesrv/binread"}},
	"namesrv/peers":               {ours: []string{"codec", "internal/linelimit", "internal/newest", "namesrv/binread", "namesrv/verdict"}, libraries: []string{memberlist}},
	"namesrv/digest":              {ours: []string{"core", "namesrv/peers"}, libraries: []string{xxhash}},
	"namesrv/tlsconfig":           {ours: []string{"namesrv/settings/properties"}, libraries: []string{pkcs8}},
	"namesrv":                     {ours: []string{"codec", "core", "internal/build", "internal/excerpt", "internal/linelimit", "netpoll", "namesrv/*", "remoting"}, libraries: []string{bytebuffer, sys}},
	"admin/api":                   {ours: []string{"codec", "core", "internal/build", "namesrv"}},
	"admin":                       {ours: []string{"internal/build", "internal/newest", "namesrv"}, libraries: []string{prometheus}},
	"cmd/namesrv":                 {ours: []string{"admin", "admin/api", "codec", "namesrv", "namesrv/logfile", "namesrv/product", "namesrv/settings", "namesrv/tlsconfig"}, libraries: []string{memlimit}},

	"nsctl/ask":      {ours: []string{"codec", "internal/excerpt", "remoting"}},
	"nsctl/diff":     {ours: []string{"codec", "nsctl/ask"}, libraries: []string{syncx}},
	"nsctl/httpside": {ours: []string{"internal/excerpt"}, libraries: []string{promText, promModel}},
	"nsctl":          {ours: []string{"codec", "internal/build", "internal/excerpt", "namesrv/settings", "nsctl/*"}, libraries: []string{cobra, syncx}},
	"cmd/nsctl":      {ours: []string{"nsctl"}},

	// The floor is what gnet can do at the least, so it is on gnet too.
	"profiles":       {libraries: []string{toml}},
	"bench/phase":    {ours: []string{"profiles"}},
	"bench/topology": {ours: []string{"profiles"}},
	"bench/latency":  {libraries: []string{histogram}},
	"bench/wire":     {ours: []string{"codec"}},
	"bench/clients":  {ours: []string{"bench/latency", "bench/phase", "bench/topology", "bench/wire", "codec", "profiles"}, libraries: []string{sys}},
	"bench/fleet":    {ours: []string{"bench/latency", "bench/phase", "bench/topology", "bench/wire", "codec", "profiles"}},
	"bench/floor":    {libraries: []string{gnet}},
	"bench/plot":     {},
	"bench/spread":   {},
	"bench/servers":  {ours: []string{"e2e/harness"}},
	"bench":          {ours: []string{"bench/*", "profiles"}},
	"cmd/nsload":     {ours: []string{"bench", "bench/*", "profiles"}},

	"conformance":         {},
	"e2e":                 {},
	"e2e/harness":         {libraries: []string{sys}},
	"faults":              {},
	"fuzz":                {},
	"internal/archtest":   {},
	"internal/build":      {},
	"internal/excerpt":    {},
	"internal/golden":     {ours: []string{"codec", "core"}},
	"internal/invariants": {},
	"internal/linelimit":  {},
	"internal/newest":     {},
	"internal/raceflag":   {},
}

// emptyNames are package names that say nothing of what is inside.
var emptyNames = []string{"util", "utils", "common", "helper", "helpers"}

// pure packages compute and nothing else: time is an argument, effects are data.
var pure = []string{"core", "core/cow", "core/wheel"}

// impureImports are closed to pure packages, with what lies below them;
// openBelow are the exceptions.
var (
	impureImports = []string{"time", "net", "os", "sync", "log", "C"}
	openBelow     = []string{"sync/atomic"}
)
