package httpside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// Drain is what a nameserver says to a wish to drain.
type Drain struct {
	Begun bool   // by this wish
	State string // of the server, once it was asked
}

// drainAnswer tells what isn't there from false.
type drainAnswer struct {
	Begun *bool
	State string
}

func (d *drainAnswer) missing() string {
	switch {
	case d.Begun == nil:
		return "begun"
	case d.State == "":
		return "state"
	}
	return ""
}

// Drain begins a drain. Without an error the nameserver has answered whether one has begun.
func (c *Client) Drain(ctx context.Context) (Drain, error) {
	const path = "/drain"
	body, status, err := c.do(ctx, http.MethodPost, path, nil)
	refused, connect := (*StatusError)(nil), (*net.OpError)(nil)
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusConflict && json.Valid(refused.Body):
		body, status = refused.Body, refused.Status
	case errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed):
		return Drain{}, fmt.Errorf("%s: no drain is served here: %w", c.addr, refused)
	case refused != nil:
		return Drain{}, fmt.Errorf("%s: the drain was refused: %w", c.addr, refused)
	case errors.As(err, &connect) && connect.Op == "dial":
		return Drain{}, err
	case err != nil:
		return Drain{}, fmt.Errorf("whether a drain has begun isn't known: %w", err)
	}
	var d drainAnswer
	if err := c.read(path, body, &d); err != nil {
		return Drain{}, err
	}
	if *d.Begun != (status == http.StatusAccepted) {
		return Drain{}, fmt.Errorf("%s: %s: %w: begun is %v in an answer of status %d", c.addr, path, ErrNotOurs, *d.Begun, status)
	}
	return Drain{*d.Begun, d.State}, nil
}
