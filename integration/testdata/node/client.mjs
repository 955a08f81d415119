// Speaks to psb mcp with the TypeScript SDK: node client.mjs legacy|auto stdio PSB | http URL. Prints one JSON object of what it saw.
import { Client } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, kind, where] = process.argv.slice(2);
const client = new Client({ name: "psb-tests", version: "1" }, { versionNegotiation: { mode } });
await client.connect(kind === "http" ? new StreamableHTTPClientTransport(new URL(where)) : new StdioClientTransport({ command: where, args: ["mcp"] }));
const seen = {};
seen.tools = (await client.listTools()).tools.map((t) => t.name).sort();
const run = async (args, options) => client.callTool({ name: "run_python", arguments: args }, options);
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
