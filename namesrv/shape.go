package namesrv

import "github.com/waymark-mq/waymark/codec"

// routeShape recognises the route queries of one connection, whose headers differ in
// topic and opaque alone. A connection that asks for none costs two words.
type routeShape struct {
	known  *codec.Shape
	misses uint32 // route queries since the last one recognised
}

// A client whose headers differ in more (a signature over the topic) would be learnt in
// vain each time: after a few misses in a row only every so many is.
const (
	missesLearnt = 4
	missesTried  = 256
)

// parse reads the header of f into c: by the shape if it has it, else in full.
func (r *routeShape) parse(c *codec.Command, f codec.Frame) error {
	if r.known != nil && r.known.Parse(c, f) {
		r.misses = 0
		return nil
	}
	if err := c.Parse(f); err != nil {
		return err
	}
	if c.Code == codec.RequestGetRouteInfoByTopic && f.Type == codec.SerializeJSON {
		r.learn(c, f.Header)
	}
	return nil
}

func (r *routeShape) learn(c *codec.Command, header []byte) {
	if r.misses++; r.misses > missesLearnt && r.misses%missesTried != 0 {
		return
	}
	if r.known == nil {
		r.known = new(codec.Shape)
	}
	r.known.Learn(c, header, "topic")
}
