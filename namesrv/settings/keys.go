package settings

// Group says which part of the server a key belongs to.
type Group uint8

const (
	NameServer    Group = iota // Apache's NamesrvConfig
	ServerNetwork              // Apache's NettyServerConfig
	ClientNetwork              // Apache's NettyClientConfig: read from the file, shown only when it stands there
	Ours                       // not Apache's; shown only when set
)

// Effect says when a new value of a key begins to work.
type Effect uint8

const (
	AtOnce    Effect = iota // the next request sees it
	AtRestart               // kept and shown; works when the server starts with it
	Never                   // Apache's, without a meaning here; kept and shown
)

// Key describes one key of the configuration.
type Key struct {
	Name    string
	Group   Group
	Default string // as text; "" where the environment decides
	Effect  Effect
	// Min and Max bound a number, both included; Max ≤ Min: any number of the type.
	Min, Max int64
	// OrZero: 0 is a value, too.
	OrZero bool
	// NotEmpty: a text that must not be "".
	NotEmpty bool
	// Property is the Java system property that replaces the default; "": none.
	Property string
	Meaning  string

	whyNotTrue string             // the reason for which true is refused; "": it is not
	check      func(string) error // tells what is wrong with a text; nil: any will do
	secret     bool               // its value is kept, and never shown
	protected  bool               // UPDATE_NAMESRV_CONFIG refuses it, whatever configBlackList says
	field      func(*Settings) any
	// whileRunning tells why the key's value in some settings, good for a start, can't be taken from UPDATE_NAMESRV_CONFIG; nil: it can.
	whileRunning func(*Settings) error
}

// Type is string, bool, int (32 bits) or long (64 bits).
func (k *Key) Type() string {
	switch k.field(&Settings{}).(type) {
	case *string:
		return "string"
	case *bool:
		return "bool"
	case *int:
		return "int"
	default:
		return "long"
	}
}

// alwaysListed keys are shown by GET_NAMESRV_CONFIG whether set or not.
func (k *Key) alwaysListed() bool { return k.Group == NameServer || k.Group == ServerNetwork }

// Keys returns a copy of the table of all keys, group by group.
func Keys() []Key { return append([]Key(nil), keys...) }

// keys is the table that everything is made of.
var keys = func() (all []Key) {
	for _, group := range []struct {
		group Group
		keys  []Key
	}{
		{NameServer, nameServerKeys}, {ServerNetwork, serverNetworkKeys}, {ClientNetwork, clientNetworkKeys}, {Ours, ourKeys}, {Ours, accessKeys}, {Ours, lifeKeys}, {Ours, peerKeys},
	} {
		for _, k := range group.keys {
			k.Group = group.group
			all = append(all, k)
		}
	}
	return all
}()

var keyByName = func() map[string]*Key {
	m := make(map[string]*Key, len(keys))
	for i := range keys {
		m[keys[i].Name] = &keys[i]
	}
	return m
}()

// lookup returns the key of exactly that name, or nil.
func lookup(name string) *Key { return keyByName[name] }
