// Speaks to psb mcp with the TypeScript SDK: node client.mjs 1|legacy|auto stdio COMMAND… | http URL. 1 is the SDK's first line, which most clients
// are made with; legacy and auto are how the second one finds its revision. Prints one JSON object of what it saw.
const [mode, kind, ...where] = process.argv.slice(2);
const first = mode === "1";
const from = first ? "@modelcontextprotocol/sdk/client/" : "@modelcontextprotocol/client";
const { Client } = await import(first ? from + "index.js" : from);
const { StdioClientTransport } = await import(first ? from + "stdio.js" : from + "/stdio");
const { StreamableHTTPClientTransport } = await import(first ? from + "streamableHttp.js" : from);
const client = new Client({ name: "psb-tests", version: "1" }, first ? {} : { versionNegotiation: { mode } });
const transport = kind === "http" ? new StreamableHTTPClientTransport(new URL(where[0])) : new StdioClientTransport({ command: where[0], args: where.slice(1) });
let told = "";
if (first) transport.setProtocolVersion = ((old) => (v) => ((told = v), old?.call(transport, v)))(transport.setProtocolVersion);
await client.connect(transport);
const seen = { revision: first ? told : client.getNegotiatedProtocolVersion() };
seen.tools = (await client.listTools()).tools.map((t) => t.name).sort();
const run = async (args, options) => {
  const asked = { name: "run_python", arguments: args };
  return first ? client.callTool(asked, undefined, options) : client.callTool(asked, options);
};
const one = await run({ code: "1 + 1" });
seen.value = one.content[0].text;
seen.isError = one.isError === true;
let beats = 0;
const long = await run({ code: "import time; time.sleep(7); 'slept'" }, { timeout: 6000, resetTimeoutOnProgress: true, onprogress: () => beats++ });
seen.kept = long.content[0].text;
seen.beats = beats;
const bad = await run({ code: "1", polcy: 1 });
seen.refused = bad.isError === true && bad.content[0].text.includes("polcy");
const gone = new AbortController();
setTimeout(() => gone.abort(), 1500);
seen.aborted = await run({ code: "while True: pass" }, { signal: gone.signal }).then(() => false, () => true);
seen.after = (await run({ code: "3" })).content[0].text;
console.log(JSON.stringify(seen));
await client.close();
