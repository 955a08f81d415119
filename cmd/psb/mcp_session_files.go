package main

import (
	"context"
	"errors"

	"psb/mcpserver"
)

// file asks for something of a session's files.
func (r *sessionRunner) file(ctx context.Context, at mcpserver.Place, a *fileAsk) (*fileSay, error) {
	_, box, err := r.of(at.Client, at.Session)
	if err != nil {
		return nil, err
	}
	a.Path = at.Path
	say, err := box.answer(ctx, &sessionAsk{File: a})
	switch {
	case err != nil:
		return nil, err
	case say.File == nil:
		return nil, errNonsense
	case say.File.File:
		return nil, mcpserver.FileError(say.File.Wrong)
	case say.File.Wrong != "":
		return nil, errors.New(say.File.Wrong)
	}
	return say.File, nil
}

// ReadFile reads a piece of a file.
func (r *sessionRunner) ReadFile(ctx context.Context, at mcpserver.Place, offset, limit int64) (mcpserver.FileContent, error) {
	say, err := r.file(ctx, at, &fileAsk{Do: "read", Offset: offset, Limit: limit})
	if err != nil {
		return mcpserver.FileContent{}, err
	}
	return say.Content, nil
}

// WriteFile writes a file.
func (r *sessionRunner) WriteFile(ctx context.Context, at mcpserver.Place, content []byte, how mcpserver.Writing) (mcpserver.FileInfo, error) {
	return infoFrom(r.file(ctx, at, &fileAsk{Do: "write", Content: content, How: how}))
}

// ManageFile moves, deletes and the like.
func (r *sessionRunner) ManageFile(ctx context.Context, at mcpserver.Place, act mcpserver.FileAct) (mcpserver.FileInfo, error) {
	return infoFrom(r.file(ctx, at, &fileAsk{Do: act.Do, Act: act}))
}

func infoFrom(say *fileSay, err error) (mcpserver.FileInfo, error) {
	if err != nil {
		return mcpserver.FileInfo{}, err
	}
	return say.Content.FileInfo, nil
}

// FindFiles lists and searches.
func (r *sessionRunner) FindFiles(ctx context.Context, at mcpserver.Place, query mcpserver.FindQuery) ([]mcpserver.FileInfo, error) {
	say, err := r.file(ctx, at, &fileAsk{Do: "find", Query: query})
	if err != nil {
		return nil, err
	}
	return say.Found, nil
}
