// Asks an explorer over the Model Context Protocol with its official client: `node mcp.mjs URL [AUTHORIZATION]`, calls on standard input as
// [[tool, arguments], …], what came back on standard output.
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const calls = JSON.parse(readFileSync(0, 'utf8'));
const client = new Client({ name: 'trawl-tests', version: '1.0.0' });
const [, , url, authorization] = process.argv;
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorization ? { authorization } : {} } }));
const tools = (await client.listTools()).tools;
const results = [];
for (const [name, args] of calls) {
  try {
    const { content, isError } = await client.callTool({ name, arguments: args });
    results.push({ text: content[0].text, isError: isError ?? false });
  } catch (error) {
    results.push({ refused: String(error.message) });
  }
}
console.log(JSON.stringify({ server: client.getServerVersion(), instructions: client.getInstructions(), tools, results }));
await client.close();
