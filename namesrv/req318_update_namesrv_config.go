package namesrv

import (
	"errors"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

const maxConfigBytes = 256 << 10

// decodeUpdateConfig makes UPDATE_NAMESRV_CONFIG (318) ready to be made durable.
func (d *decoder) decodeUpdateConfig() *durable {
	return &durable{body: append([]byte(nil), d.cmd.Body...)}
}

// updateConfig applies UPDATE_NAMESRV_CONFIG (318).
//
// Request:  body Java properties text, read as ISO-8859-1.
// Response: 0, also without a body; 16 for a black-listed key, whatever its spelling; 1 for malformed text, an ill-typed
// value of a known key, or a file that can't be written. Nothing is applied then.
// Effects:  configStorePath is written, then the settings change; keys that need a restart are only kept.
// Source:   Apache RocketMQ 5.5.0, behaviour of a running server.
// Differs:  Apache ignores ill-typed values, and writes control characters unescaped.
func (p *persister) updateConfig(d *durable) {
	if len(d.body) == 0 {
		p.passOn(d, change{command: nothing})
		return
	}
	if len(d.body) > maxConfigBytes {
		p.refuse(d, reply{code: codec.ResponseSystemError, remark: "more than 256 KiB of configuration"})
		return
	}
	old := p.settings.Load()
	next, changes, err := old.Update(d.body)
	if err != nil {
		p.refuse(d, configReply(err))
		return
	}
	d.deed.configured(changes)
	if err := p.configFile.Write(next.FileText()); err != nil {
		p.events.fileFailed("configuration not written; nothing has changed", err)
		p.refuse(d, reply{code: codec.ResponseSystemError, remark: "configuration can't be written: " + err.Error()})
		return
	}
	// The next update must start from this one, so it waits for the writer.
	applied := make(chan struct{})
	p.passOn(d, change{command: &core.SetSettings{Settings: next.Core()}, then: func() {
		defer close(applied)
		p.settings.Store(next)
		p.setLevel(next)
		p.net.SetIdleTimeout(orNever(next.ServerChannelMaxIdleTimeSeconds))
		for _, c := range changes {
			if c.Ignored {
				continue
			}
			p.history.recordSetting(c, d.session.asker())
		}
	}})
	<-applied
}

func configReply(err error) reply {
	switch {
	case errors.Is(err, settings.ErrBlackList):
		return reply{code: codec.ResponseNoPermission, remark: remarkBlackList}
	case errors.Is(err, settings.ErrProperties):
		return reply{code: codec.ResponseSystemError, remark: remarkProperties}
	}
	return reply{code: codec.ResponseSystemError, remark: err.Error()}
}
