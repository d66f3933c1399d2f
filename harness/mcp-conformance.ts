import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createModels } from '../src/models/registry.ts';
import { type AgentOptions, addAgent } from './agents.ts';
import { type Service, startService } from './service.ts';
import { openUnsealed } from './setups.ts';

/** The agents that the conformance suite of the Model Context Protocol calls, on `cueline/echo`. */
const fixtures: Readonly<Record<string, AgentOptions>> = {
  test_simple_text: { user: 'This is a simple text response for testing.' },
  test_tool_with_progress: { user: 'The work is done.', model: 'cueline/echo?delay=50' },
  test_error_handling: {
    user: 'This tool fails.',
    model: 'cueline/echo?fail=CONTENT_FILTERED',
  },
  test_streaming_elicitation: { user: 'Nothing was asked.' },
  test_logging_tool: { user: 'Nothing was logged.' },
  slow_compute: {
    user: 'Computed {{label}} for {{seconds}} s.',
    model: 'cueline/echo?delay=1000',
    requiredVariables: [],
    optionalVariables: ['seconds', 'label'],
  },
  failing_job: { user: 'This tool fails.', model: 'cueline/echo?fail=CONTENT_FILTERED' },
  greet: { user: 'Hello {{name}}', requiredVariables: [], optionalVariables: ['name'] },
};

export interface ConformanceTarget {
  /** Requests here reach the service with a key. */
  readonly url: string;
  close(): Promise<void>;
}

export async function startConformanceTarget(): Promise<ConformanceTarget> {
  const models = createModels({ open: openUnsealed, env: {}, allowedHosts: [] });
  const service = await startService({ models });
  for (const [slug, options] of Object.entries(fixtures)) {
    await addAgent(service, { slug, ...options });
  }
  const proxy = await startKeyProxy(service);
  return {
    url: `${proxy.url}/mcp`,
    async close() {
      await proxy.close();
      await service.close();
      await models.close();
    },
  };
}

/** A proxy that adds a key: the suite has none. It forwards all other headers as they are, `Host` included. */
async function startKeyProxy(service: Service) {
  const { key } = await service.key();
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const outbound = forward(service.url + path, {
      ...(method !== undefined && { method }),
      headers: { ...headers, authorization: `Bearer ${key}` },
    });
    outbound.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    outbound.on('error', () => outgoing.destroy());
    outgoing.on('close', () => outbound.destroy());
    incoming.pipe(outbound);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
