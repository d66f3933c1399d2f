// The MCP client of version 1: URL, key.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { observeCancellation } from './sent-cancellation.mjs';

const [url, key] = process.argv.slice(2);
const client = new Client({ name: 'test', version: '1' });
const headers = { authorization: `Bearer ${key}` };
const cancellation = observeCancellation();
const options = { requestInit: { headers }, fetch: cancellation.fetch };
await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
const { tools } = await client.listTools();
const progress = [];
const onprogress = ({ message }) => progress.push(message);
const greet = { name: 'greet', arguments: { name: 'Ada' } };
const greeted = await client.callTool(greet, undefined, { onprogress });
const judged = await client.callTool({ name: 'judge', arguments: {} });
const refused = await client.callTool({ name: 'greet', arguments: {} });
const abort = new AbortController();
const untilAccepted = { signal: abort.signal, onprogress: () => abort.abort() };
const canceled = await client
  .callTool({ name: 'slow', arguments: {} }, undefined, untilAccepted)
  .catch((error) => error.message);
await cancellation.sent;
await client.close();
console.log(JSON.stringify({ tools, progress, greeted, judged, refused, canceled }));
