package api

// namespaces lists the namespaces of the KV configuration.
func (r *request) namespaces() error {
	limit, err := r.limit()
	if err != nil {
		return err
	}
	type namespaceJSON struct {
		Name string `json:"name"`
		Keys int    `json:"keys"`
	}
	names, keys := r.src.Snapshot().KVNamespaces()
	from, to, rest := r.page(names, limit)
	r.begin("namespaces")
	for i := from; i < to; i++ {
		r.item(namespaceJSON{names[i], keys[i]})
	}
	r.end(rest)
	return nil
}

// namespace lists the keys of one namespace, with their values.
func (r *request) namespace() error {
	limit, err := r.limit()
	if err != nil {
		return err
	}
	type entryJSON struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	s := r.src.Snapshot()
	keys, ok := s.KVKeys(r.name)
	if !ok {
		return notFound("no KV namespace %q", r.name)
	}
	from, to, rest := r.page(keys, limit)
	r.begin("entries")
	for _, key := range keys[from:to] {
		value, _ := s.KV(r.name, key)
		r.item(entryJSON{key, value})
	}
	r.end(rest)
	return nil
}

// page is the part of sorted names that was asked for.
func (r *request) page(names []string, limit int) (from, to int, rest nextName) {
	if after := r.parameters.Get("after"); after != "" {
		for from < len(names) && names[from] <= after {
			from++
		}
	}
	to = min(from+limit, len(names))
	if to < len(names) {
		rest.Next = &names[to-1]
	}
	return from, to, rest
}
