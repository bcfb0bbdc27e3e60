package tlsconfig

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/youmark/pkcs8"
)

var (
	errNoKey       = errors.New("no private key in it")
	errNoPassword  = errors.New("the key is encrypted and there is no " + keyPasswordProperty)
	errOldPassword = errors.New("the key is encrypted in a form older than PKCS#8: convert it with openssl pkcs8 -topk8")
)

// plainKey decrypts the private key in a PEM text if it is an encrypted PKCS#8 one; others, plain, are returned as they are.
func plainKey(text []byte, password string) ([]byte, error) {
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errNoKey
		}
		switch block.Type {
		case "ENCRYPTED PRIVATE KEY":
			if password == "" {
				return nil, errNoPassword
			}
			return decryptKey(block.Bytes, password)
		case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY":
			if block.Headers["DEK-Info"] != "" {
				return nil, errOldPassword
			}
			return text, nil
		}
	}
}

func decryptKey(der []byte, password string) (text []byte, err error) {
	defer func() { // the library does when the lengths in a damaged key don't fit
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed encrypted key: %v", r)
		}
	}()
	key, err := pkcs8.ParsePKCS8PrivateKey(der, []byte(password))
	if err != nil {
		return nil, err
	}
	plain, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: plain}), nil
}
