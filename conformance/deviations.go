package conformance

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Deviations are rules for recorded answers that Waymark gives otherwise on
// purpose. Where single steps of our own scenarios and seeds deviate, the step
// itself holds both answers.
type Deviations []Deviation

// Deviation is one rule.
type Deviation struct {
	Row     string // of COMPATIBILITY.md
	Capture string // one recording in which it shows, without its ending
	// Want is the answer wanted instead of the recorded one; nil: the rule does not apply.
	Want func(e *Exchange) *Answer
}

// Waymark are our deviations.
var Waymark = Deviations{
	{Row: "deflated", Capture: "broker-5.5.0-compressed", Want: deflatedRegistration},
	{Row: "deflated", Capture: "broker-5.5.0-compressed", Want: deflatedBroker},
	{Row: "D14", Capture: "client-java-5.5.0-zone", Want: zoneDialect},
}

// want is the answer that is to be expected; ds is nil for Apache's nameserver.
func (ds Deviations) want(e *Exchange) *Answer {
	if ds == nil || e.Want == nil {
		return e.Want
	}
	if e.ours != nil {
		return e.ours
	}
	for _, d := range ds {
		if w := d.Want(e); w != nil {
			return w
		}
	}
	return e.Want
}

// deflatedRegistration: 5.x brokers with compressedRegister=true deflate the
// body and mark it as not compressed. Apache refuses it, Waymark takes it.
func deflatedRegistration(e *Exchange) *Answer {
	if e.Code != codeRegisterBroker || e.Ext["compressed"] != "false" || !bytes.HasPrefix(e.Body, []byte{0x78}) ||
		!strings.Contains(e.Want.Remark, "Failed to decode RegisterBrokerBody") {
		return nil
	}
	w := *e.Want
	w.Code, w.Remark, w.HasRemark, w.Ext = 0, "", false, map[string]string{}
	return &w
}

// deflatedBroker: so the broker shows until its 104.
func deflatedBroker(e *Exchange) *Answer {
	if e.File != "broker-5.5.0-compressed.jsonl" || e.Line != 7 && e.Line != 11 {
		return nil
	}
	w := *e.Want
	w.Body = []byte(`{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"127.0.0.1:31911"},"brokerName":"broker-a",` +
		`"cluster":"DefaultCluster","enableActingMaster":false}},"clusterAddrTable":{"DefaultCluster":["broker-a"]}}`)
	return &w
}

// zoneDialect: a route filtered by zone falls back to the legacy dialect with
// Apache, and keeps the one that the client may expect with Waymark.
func zoneDialect(e *Exchange) *Answer {
	mode, _ := strconv.ParseBool(e.Ext["__ZONE_MODE"])
	standard := e.Version >= 401 || strings.EqualFold(e.Ext["acceptStandardJsonOnly"], "true")
	if e.Code != codeGetRoute || !mode || e.Ext["__ZONE_NAME"] == "" || !standard {
		return nil
	}
	w := *e.Want
	w.Body = bytes.ReplaceAll(quoteBareKeys(w.Body), []byte(bareKeyEscape), nil)
	return &w
}

// SameAnswer tells whether two answers of scenarios mean the same to a peer.
func SameAnswer(a, b *Want) (bool, error) {
	x, err := a.answer(0)
	if err != nil {
		return false, fmt.Errorf("conformance: %w", err)
	}
	y, err := b.answer(0)
	if err != nil {
		return false, fmt.Errorf("conformance: %w", err)
	}
	return differ(x, y, false) == "", nil
}
