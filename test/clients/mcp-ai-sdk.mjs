// The MCP client of the AI SDK: URL, key.
import { createMCPClient } from '@ai-sdk/mcp';

const [url, key] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const client = await createMCPClient({ transport: { type: 'http', url, headers } });
const { tools } = await client.listTools();
const call = async (name, input) => {
  const set = await client.tools();
  return set[name].execute(input, { toolCallId: 'call', messages: [] });
};
const greeted = await call('greet', { name: 'Ada' });
const judged = await call('judge', {});
const refused = await call('greet', {});
await client.close();
console.log(JSON.stringify({ tools, greeted, judged, refused }));
