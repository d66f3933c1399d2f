import type { Caller } from './callers.ts';
import { agentCalls } from './calls-agents.ts';
import { mcpCalls } from './calls-mcp.ts';
import { openaiCalls } from './calls-openai.ts';
import { sessionCalls } from './calls-sessions.ts';
import { workflowCalls } from './calls-workflows.ts';
import { workspaceCalls } from './calls-workspace.ts';
import type { AccessFixture } from './fixture.ts';

/** A valid call: a permitted caller gets a 2xx. */
export interface Call {
  readonly path: string;
  /** Sent as JSON, a text as it is. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ids or names of the created resources. A response to a caller who may not see them must not contain one. */
  readonly agents?: readonly string[];
  readonly privateAgents?: readonly string[];
  readonly workspace?: readonly string[];
  /** Whether a successful response does not end by itself; only its beginning is read. */
  readonly isEndless?: boolean;
}

/** Creates the resources of a call and returns the call. `note` is the case column of the table. */
export type Prepare = (fixture: AccessFixture, note: string, caller: Caller) => Promise<Call>;

/** By method and path. */
export const calls: Readonly<Record<string, Prepare>> = {
  ...agentCalls,
  ...openaiCalls,
  ...workflowCalls,
  ...workspaceCalls,
  ...sessionCalls,
  ...mcpCalls,
};
