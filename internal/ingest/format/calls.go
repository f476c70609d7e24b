package format

import "bytes"

// CountCalls returns how many tool calls stand in records, by a scan that knows no format:
// objects of type tool_use, function_call and their like, objects with a function of name and
// arguments, and function_call members. A call that several parts of a record repeat counts
// once, by its id; of those without an id, the place with the most counts. What is inside of
// arguments, and copies of the model's response, do not count.
func CountCalls(records ...[]byte) int64 {
	c := callScan{ids: map[string]bool{}, unnamed: map[uint64]int64{}}
	for _, data := range records {
		c.data, c.pos = data, 0
		for c.next() != 0 {
			if at := c.pos; !c.value(0, 0) || c.pos == at {
				// Behind damage the next line may be whole.
				n := bytes.IndexByte(c.data[c.pos:], '\n')
				if n < 0 {
					break
				}
				c.pos += n + 1
			}
		}
	}
	most := int64(0)
	for _, n := range c.unnamed {
		most = max(most, n)
	}
	return int64(len(c.ids)) + most
}

type callScan struct {
	scanner
	ids     map[string]bool
	unnamed map[uint64]int64 // by the names of the members that lead there
}

// maxCallDepth is how deep calls are looked for.
const maxCallDepth = 200

// value scans the value that begins here; way stands for the members that lead to it.
func (c *callScan) value(way uint64, depth int) bool {
	switch c.next() {
	case '{':
		if depth < maxCallDepth {
			_, ok := c.object(way, depth)
			return ok
		}
	case '[':
		if depth < maxCallDepth {
			return c.array(way, depth)
		}
	}
	_, ok := c.scanner.value()
	return ok
}

func (c *callScan) array(way uint64, depth int) bool {
	for c.pos++; ; {
		switch c.next() {
		case ']':
			c.pos++
			return true
		case ',':
			c.pos++
			continue
		}
		if !c.value(way, depth+1) {
			return false
		}
	}
}

// shape is what an object says of being a call.
type shape struct {
	kind, id, callID         []byte
	name, arguments, invokes bool
}

func (c *callScan) object(way uint64, depth int) (s shape, ok bool) {
	for c.pos++; ; {
		switch c.next() {
		case '}':
			c.pos++
			c.count(&s, way)
			return s, true
		case ',':
			c.pos++
			continue
		}
		key, ok := c.scanner.value()
		if !ok || key.Kind() != '"' || c.next() != ':' {
			return s, false
		}
		c.pos++
		kind := c.next()
		switch name := key[1 : len(key)-1]; string(name) {
		case "type", "id", "call_id", "tool_call_id", "name", "input", "arguments", "args", "kwargs", "parameters", "tools",
			"model_response", "tool_call_metadata", "response", "raw_response":
			v, ok := c.scanner.value()
			if !ok {
				return s, false
			}
			switch string(name) {
			case "type":
				s.kind = v
			case "id":
				s.id = v
			case "call_id", "tool_call_id":
				s.callID = v
			case "name":
				s.name = kind == '"' && len(v) > 2
			case "input", "arguments":
				s.arguments = kind != 'n'
			}
		case "function", "function_call":
			if kind != '{' {
				if _, ok := c.scanner.value(); !ok {
					return s, false
				}
				continue
			}
			of, ok := c.object(way*31+1, depth+1)
			if !ok {
				return s, false
			}
			invokes := of.name && of.arguments
			if string(name) == "function" {
				s.invokes = s.invokes || invokes
			} else if invokes {
				c.unnamed[way]++
			}
		default:
			next := way
			for _, b := range name {
				next = (next ^ uint64(b)) * 1099511628211
			}
			if !c.value(next, depth+1) {
				return s, false
			}
		}
	}
}

// count counts an object that is a call.
func (c *callScan) count(s *shape, way uint64) {
	switch string(s.kind) {
	case `"tool_use"`, `"function_call"`, `"custom_tool_call"`:
		if !s.name || !s.arguments {
			return
		}
	default:
		if !s.invokes {
			return
		}
	}
	id := s.callID
	if len(id) == 0 {
		id = s.id
	}
	if len(id) == 0 || string(id) == `""` || string(id) == "null" {
		c.unnamed[way]++
		return
	}
	c.ids[string(id)] = true
}
