// The MCP servers of the OpenAI Agents SDK: URL, key.
import { MCPServerStreamableHttp } from '@openai/agents';

const [url, key] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const server = new MCPServerStreamableHttp({ url, requestInit: { headers } });
await server.connect();
const tools = await server.listTools();
const greeted = await server.callToolResult('greet', { name: 'Ada' });
const judged = await server.callToolResult('judge', {});
const refused = await server.callToolResult('greet', {});
await server.close();
console.log(JSON.stringify({ tools, greeted, judged, refused }));
