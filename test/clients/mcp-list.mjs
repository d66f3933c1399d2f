// Lists the tools with a URL and an `Authorization` header, as a configuration gives them.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, authorization] = process.argv.slice(2);
const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
const requestInit = { headers: { authorization } };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const { tools } = await client.listTools();
await client.close();
console.log(JSON.stringify({ names: tools.map(({ name }) => name) }));
