// Prints what clients' files hold, as it is published: node configs.mjs URL. {client: {file, local, http}}; the local server is the command PSB,
// which has no words.
import { MCPConfigRegistry } from "@gleanwork/mcp-config-schema";

const home = "$HOME";
const published = new MCPConfigRegistry({ serverPackage: "PSB" });
const out = {};
for (const client of published.getAllConfigs()) {
  if (!client.configPath?.linux?.startsWith(home)) continue;
  const builder = published.createBuilder(client.id);
  out[client.id] = {
    file: client.configPath.linux.slice(home.length + 1),
    local: builder.buildConfiguration({ transport: "stdio", serverName: "psb", env: {} }),
    http: builder.buildConfiguration({ transport: "http", serverName: "psb", serverUrl: process.argv[2] }),
  };
}
console.log(JSON.stringify(out));
