// The MCP client of version 2: URL, key, and `legacy` or a revision to pin.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { observeCancellation } from './sent-cancellation.mjs';

const [url, key, revision] = process.argv.slice(2);
const mode = revision === 'legacy' || revision === 'auto' ? revision : { pin: revision };
const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
const headers = { authorization: `Bearer ${key}` };
const cancellation = observeCancellation();
const options = { requestInit: { headers }, fetch: cancellation.fetch };
await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
const { tools } = await client.listTools();
const progress = [];
const onprogress = ({ message }) => progress.push(message);
const greeted = await client.callTool(
  { name: 'greet', arguments: { name: 'Ada' } },
  { onprogress },
);
const judged = await client.callTool({ name: 'judge', arguments: {} });
const refused = await client.callTool({ name: 'greet', arguments: {} });
const abort = new AbortController();
const untilAccepted = { signal: abort.signal, onprogress: () => abort.abort() };
const canceled = await client
  .callTool({ name: 'slow', arguments: {} }, untilAccepted)
  .catch((error) => error.message);
// Without a handshake, it closes the response instead.
if (revision === 'legacy') await cancellation.sent;
const version = client.getNegotiatedProtocolVersion();
await client.close();
console.log(JSON.stringify({ version, tools, progress, greeted, judged, refused, canceled }));
