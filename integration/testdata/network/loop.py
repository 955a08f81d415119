"""A site on an event loop. argv: the address and port to listen at."""
import asyncio
import sys

from aiohttp import web


async def page(request):
    return web.Response(text="page %s\n" % request.path[1:])


app = web.Application()
app.add_routes([web.get("/{name}", page)])
web.run_app(app, host=sys.argv[1], port=int(sys.argv[2]), print=None)
