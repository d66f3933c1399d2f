import { modernRequest, withTasks } from '../mcp.ts';
import type { Prepare } from './calls.ts';
import { preflight } from './preflight.ts';

/** Agents as tools. A client that knows tasks does not wait for the result. */

function callTool(at: (slug: string) => string): Prepare {
  return async (fixture, note) => {
    const { id, agentId } = await fixture.agent(note);
    const name = `agent-${id}`;
    const params = { name, arguments: { name: 'you' } };
    const { message, headers } = modernRequest('tools/call', params, withTasks);
    return { path: at(name), body: message, headers, agents: [agentId] };
  };
}

const metadata = '/.well-known/oauth-protected-resource';
const at = (path: string): Prepare => {
  return async () => ({ path });
};

export const mcpCalls: Readonly<Record<string, Prepare>> = {
  'POST /mcp': callTool(() => '/mcp'),
  'POST /mcp/{slug}': callTool((slug) => `/mcp/${slug}`),
  'OPTIONS /mcp': preflight(at('/mcp')),
  'OPTIONS /mcp/*': preflight(at('/mcp/agent')),
  [`GET ${metadata}`]: at(metadata),
  [`GET ${metadata}/mcp`]: at(`${metadata}/mcp`),
  [`GET ${metadata}/mcp/{slug}`]: at(`${metadata}/mcp/agent`),
};
