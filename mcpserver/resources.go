package mcpserver

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Methods of the protocol that have to do with what is kept.
const (
	methodListResources = "resources/list"
	methodListen        = "subscriptions/listen"
	methodListChanged   = "notifications/resources/list_changed"
)

// resourcesOnPage is how many are listed at once.
const resourcesOnPage = 100

// keptTemplate names all that a client may read.
func keptTemplate() *mcp.ResourceTemplate {
	return &mcp.ResourceTemplate{Name: "kept", Title: "What did not fit into a result", URITemplate: resourceScheme + "{id}/{+name}",
		Description: "Output and files of a run, as its result names them. They are kept for half an hour."}
}

// listKept answers resources/list for the client that asks: what is kept for it, the newest first. What others put into the SDK's server comes first.
func (s *Server) listKept(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != methodListResources {
			return next(ctx, method, req)
		}
		var cursor string
		if p, ok := req.GetParams().(*mcp.ListResourcesParams); ok && p != nil {
			cursor = p.Cursor
		}
		before, mine, err := readCursor(cursor)
		if err != nil {
			return nil, err
		}
		list := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
		if !mine {
			r, err := next(ctx, method, req)
			others, ok := r.(*mcp.ListResourcesResult)
			if err != nil || !ok || others.NextCursor != "" {
				return r, err
			}
			list = others
		}
		kept, more := s.shelf.list(clientOf(req.GetExtra()), before, resourcesOnPage)
		for _, k := range kept {
			list.Resources = append(list.Resources, &mcp.Resource{URI: k.uri, Name: oneLine(k.name), MIMEType: oneLine(k.mime), Size: int64(len(k.content))})
		}
		if more {
			list.NextCursor = writeCursor(kept[len(kept)-1].number)
		}
		list.Cacheable = mcp.Cacheable{CacheScope: "private"} // and for no time at all: the next run may add to it
		return list, nil
	}
}

// Cursors of ours are told apart from the SDK's by their beginning.
const cursorMark = "kept-"

func writeCursor(number int64) string {
	return cursorMark + base64.RawURLEncoding.EncodeToString(strconv.AppendInt(nil, number, 10))
}

// readCursor gives the number of the thing that the last page ended with. One that is not ours is the SDK's.
func readCursor(cursor string) (before int64, mine bool, err error) {
	text, ours := strings.CutPrefix(cursor, cursorMark)
	if !ours {
		return 0, false, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		before, err = strconv.ParseInt(string(b), 10, 64)
	}
	if err != nil || before < 1 {
		return 0, true, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no cursor of this server"}
	}
	return before, true, nil
}

// listeners are the connections that are told when their client's list of resources grew. The SDK tells all of them of every change; here each hears of
// its own client's alone, and once.
type listeners struct {
	mu    sync.Mutex
	grown map[string]uint64 // by client: how often
	heard map[*mcp.ServerSession]listener
}

type listener struct {
	client string
	heard  uint64 // of its client's changes
}

func newListeners() *listeners {
	return &listeners{grown: map[string]uint64{}, heard: map[*mcp.ServerSession]listener{}}
}

// listGrew has the SDK tell of a change: it does where something of its own is put in place anew.
func (s *Server) listGrew(client string) {
	s.listeners.mu.Lock()
	s.listeners.grown[client]++
	s.listeners.mu.Unlock()
	s.mcp.AddResourceTemplate(keptTemplate(), s.readResource)
}

// listen learns whose a connection is: of the newest revision while it listens, which it does no longer than the server works; of older ones until it
// ends.
func (s *Server) listen(next mcp.MethodHandler) mcp.MethodHandler {
	l := s.listeners
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		session, ok := req.GetSession().(*mcp.ServerSession)
		switch {
		case !ok:
		case method == methodListen:
			var cancel context.CancelFunc
			ctx, cancel = s.bounded(ctx)
			defer cancel()
			l.add(session, clientOf(req.GetExtra()))
			defer l.remove(session)
		case olderRevision(session) && l.add(session, clientOf(req.GetExtra())):
			go func() {
				_ = session.Wait()
				l.remove(session)
			}()
		}
		return next(ctx, method, req)
	}
}

func olderRevision(session *mcp.ServerSession) bool {
	p := session.InitializeParams()
	return p != nil && p.ProtocolVersion < modernRevision
}

// add reports whether the connection is new.
func (l *listeners) add(session *mcp.ServerSession, client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.heard[session]; known {
		return false
	}
	l.heard[session] = listener{client, l.grown[client]}
	return true
}

func (l *listeners) remove(session *mcp.ServerSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.heard, session)
}

// tell lets a notification through to connections for which it is news.
func (l *listeners) tell(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != methodListChanged {
			return next(ctx, method, req)
		}
		session, _ := req.GetSession().(*mcp.ServerSession)
		l.mu.Lock()
		x, known := l.heard[session]
		news := known && l.grown[x.client] > x.heard
		if news {
			l.heard[session] = listener{x.client, l.grown[x.client]}
		}
		l.mu.Unlock()
		if !news {
			return nil, nil
		}
		return next(ctx, method, req)
	}
}
