package main

import (
	"strings"

	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// resolver gives clients their nameservers: those that are told, or what an address server says whenever they ask.
func resolver(nameservers string) primitive.NsResolver {
	if strings.HasPrefix(nameservers, "http://") {
		return primitive.NewHttpResolver("DEFAULT", nameservers)
	}
	return primitive.NewPassthroughResolver(strings.Split(nameservers, ";"))
}
