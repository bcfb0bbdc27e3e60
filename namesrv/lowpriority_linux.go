package namesrv

import (
	"log/slog"
	"runtime"
	"syscall"
)

// decoderNice is what decoders add to the nice value of their threads: a tenth of the weight of an event loop's. With the
// same weight, a loop that wakes up while registrations are decoded on every core waits for a time slice of
// milliseconds; with this the kernel lets it run at once. A tenth of a core decodes what 1,000 brokers send.
const decoderNice = 10

// yieldProcessor gives the calling goroutine a thread of its own that leaves the processor to the others.
func yieldProcessor(log *slog.Logger) {
	runtime.LockOSThread()
	const thisThread, most = 0, 19
	nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, thisThread)
	nice = 20 - nice // the system call's own way to say it
	if err == nil {
		err = syscall.Setpriority(syscall.PRIO_PROCESS, thisThread, min(nice+decoderNice, most))
	}
	if err != nil {
		log.Warn("decoders run at the same priority as event loops", "err", err)
	}
}
