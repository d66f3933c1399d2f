import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../core/people/caller.ts';
import type { WorkflowDeps } from '../../features/workflows/routes/workflow-deps.ts';
import type { McpBody } from './mcp-body.ts';
import type { OpenCalls } from './open-calls.ts';
import type { PacedResponse } from './paced-response.ts';
import type { ResponseBudget } from './response-budget.ts';

export interface McpDeps extends WorkflowDeps {
  /** Calls over MCP that wait for their results. */
  readonly openCalls: OpenCalls;
}

/** One request over MCP: who sent it, and what the body says beyond its JSON value. */
export interface McpRequest {
  readonly deps: McpDeps;
  readonly caller: Caller;
  readonly keyHash: string;
  readonly request: FastifyRequest;
  /** The URL of this server, before the paths of the API. */
  readonly baseUrl: string;
  /** The slug, identifier or an alias of the only tool, for `/mcp/{slug}`. */
  readonly slug: string | null;
  readonly body: McpBody;
  /** Whether the client reads event streams; otherwise the response is one JSON. */
  readonly readsStreams: boolean;
  readonly budget: ResponseBudget;
  readonly response: PacedResponse;
  /** Aborted once the response is sent or the client has left. */
  readonly closed: AbortSignal;
}

/** `legacy`: a revision with a handshake. */
export type Era = 'modern' | 'legacy';
