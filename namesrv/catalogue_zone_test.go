package namesrv

import (
	"strings"
)

// inZone asks for a route with a zone filter.
func inZone(topic, zone, mode string) request {
	return ask(105, "topic", topic, "__ZONE_NAME", zone, "__ZONE_MODE", mode)
}

// wantZoned compares the filtered route's line, see wantRoute.
func (c *client) wantZoned(topic, zone, mode, want string) {
	c.t.Helper()
	a := c.call(inZone(topic, zone, mode))
	got, err := routeLine(a.body)
	if a.code != 0 || err != nil {
		c.t.Fatalf("route in zone %s: %s: %v", zone, a, err)
	}
	if got != want {
		c.t.Errorf("route in zone %s, mode %s\n got %s\nwant %s", zone, mode, got, want)
	}
}

func zoned(name, zone string) registration { return broker(name).set("__ZONE_NAME", zone) }

// filtering makes it a registration with a filter server.
func (r registration) filtering(addr string) registration {
	return r.raw(strings.Replace(r.encode(), `"filterServerList":[]`, `"filterServerList":["`+addr+`"]`, 1))
}

const bothZones = "a{0=a:10911} zone=zone1 4/4/6/0; b{0=b:10911} zone=zone2 4/4/6/0"

var zoneRows = []catalogueRow{
	{"Z1_otherCode", nil, func(_ *testServer, c *client) {
		c.want(ask(106, "__ZONE_NAME", "zone1", "__ZONE_MODE", "true"), `0 {"brokerAddrTable":{},"clusterAddrTable":{}}`)
	}},
	{"Z2_modeFalse", nil, func(_ *testServer, c *client) {
		c.register(zoned("a", "zone1"), zoned("b", "zone2"))
		c.wantZoned("Base", "zone1", "false", bothZones)
		c.wantZoned("Base", "zone1", "1", bothZones)
	}},
	{"Z3_noZoneName", nil, func(_ *testServer, c *client) {
		c.register(zoned("a", "zone1"), zoned("b", "zone2"))
		c.wantZoned("Base", "", "true", bothZones)
		c.wantZoned("Base", "  ", "true", bothZones)
		a := c.call(ask(105, "topic", "Base", "__ZONE_MODE", "true"))
		if line, err := routeLine(a.body); line != bothZones {
			c.t.Errorf("without a name: %s, %v", line, err)
		}
	}},
	{"Z4_answerIsNoRoute", waiting(true, 45), func(_ *testServer, c *client) {
		c.want(inZone("None", "zone1", "true"), `1 "name server not ready"`)
		c.want(configure("needWaitForService=false"), "0")
		c.wantCode(inZone("None", "zone1", "true"), 17)
	}},
	// Differs: a broker without addresses is not part of any route here.
	{"Z5_filterBrokers", nil, func(_ *testServer, c *client) {
		c.register(zoned("a", "zone1"), zoned("b", "zone2"), zoned("c", "zone2").set("brokerId", "1"))
		c.wantZoned("Base", "zone1", "true", "a{0=a:10911} zone=zone1 4/4/6/0; c{1=c:10911} zone=zone2 4/4/6/0")
		c.wantZoned("Base", "ZONE1", "TRUE", "a{0=a:10911} zone=zone1 4/4/6/0; c{1=c:10911} zone=zone2 4/4/6/0")
		c.wantZoned("Base", "zone3", "true", "c{1=c:10911} zone=zone2 4/4/6/0")
	}},
	{"Z6_filterTableOfKeptBroker", nil, func(_ *testServer, c *client) {
		c.register(zoned("a", "zone1").filtering("f:1"), zoned("b", "zone2"))
		c.wantFilters(`{"a:10911":["f:1"]}`)
	}},
	{"Z7_filterTableOfDroppedBroker", nil, func(_ *testServer, c *client) {
		c.register(zoned("a", "zone1").filtering("f:1"), zoned("b", "zone2").filtering("f:2"))
		c.wantFilters(`{"a:10911":["f:1"]}`)
	}},
	// Apache's row has a success without a body, which no route is; nothing left is the nearest.
	{"Z8_nothingLeft", nil, func(_ *testServer, c *client) {
		c.register(zoned("a", "zone1"))
		c.want(inZone("Base", "zone2", "true"), `0 {"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}`)
	}},
}

// wantFilters compares filterServerTable of Base's route in zone1.
func (c *client) wantFilters(want string) {
	c.t.Helper()
	a := c.call(inZone("Base", "zone1", "true"))
	if !strings.Contains(a.body, `"filterServerTable":`+want+`,`) || strings.Contains(a.body, `"b"`) {
		c.t.Errorf("want filterServerTable %s and no broker b in\n%s", want, a)
	}
}
