import type { Caller } from './callers.ts';
import { agentCalls } from './calls-agents.ts';
import { sessionCalls } from './calls-sessions.ts';
import { workflowCalls } from './calls-workflows.ts';
import { workspaceCalls } from './calls-workspace.ts';
import type { AccessFixture } from './fixture.ts';

/** A valid call: a permitted caller gets a 2xx. */
export interface Call {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Texts that stand for what was made; who may not see that must not find one in an answer. */
  readonly agents?: readonly string[];
  readonly privateAgents?: readonly string[];
  readonly workspace?: readonly string[];
}

/** Makes what a call is for, and the call. `note` is what the table says of the row. */
export type Prepare = (fixture: AccessFixture, note: string, caller: Caller) => Promise<Call>;

/** By method and path. */
export const calls: Readonly<Record<string, Prepare>> = {
  ...agentCalls,
  ...workflowCalls,
  ...workspaceCalls,
  ...sessionCalls,
};
