import { agents, prompts } from './client-agents.ts';
import { batches } from './client-batches.ts';
import { events } from './client-events.ts';
import { executions } from './client-executions.ts';
import { history } from './client-history.ts';
import { session } from './client-session.ts';
import { streams } from './client-stream.ts';
import { tools } from './client-tools.ts';
import { workflows } from './client-workflows.ts';
import { connect } from './method.ts';
import { type ClientOptions, type Request, withCheckedKey } from './request.ts';
import { triggers } from './triggers.ts';
import { models, people, workspace } from './workspace.ts';

/** All methods. The package's types keep the comments of each part. */
export interface Cueline
  extends ReturnType<typeof executions>,
    ReturnType<typeof streams>,
    ReturnType<typeof history>,
    ReturnType<typeof agents>,
    ReturnType<typeof prompts>,
    ReturnType<typeof batches>,
    ReturnType<typeof workflows>,
    ReturnType<typeof triggers>,
    ReturnType<typeof events>,
    ReturnType<typeof tools>,
    ReturnType<typeof workspace>,
    ReturnType<typeof people>,
    ReturnType<typeof models> {
  readonly session: ReturnType<typeof session>;
  /** Calls any operation by its route, for operations without a method of their own. */
  readonly request: Request;
}

/**
 * Client of the API. Depends only on `fetch`; works in Node and in browsers.
 *
 *     const cueline = createClient({ baseURL: 'http://127.0.0.1:4000', key: 'cue_…' });
 *     const execution = await cueline.executeAndWait('agt_…', { topic: 'tides' });
 *     console.log(execution.status, execution.outputText);
 */
export function createClient(options: ClientOptions): Cueline {
  const connection = connect(withCheckedKey(options));
  return {
    ...executions(connection),
    ...streams(connection),
    ...history(connection),
    ...agents(connection),
    ...prompts(connection),
    ...batches(connection),
    ...workflows(connection),
    ...triggers(connection),
    ...events(connection),
    ...tools(connection),
    ...workspace(connection),
    ...people(connection),
    ...models(connection),
    session: session(connection),
    request: connection.request,
  };
}

export type * from './client-agents.ts';
export type * from './client-batches.ts';
export type * from './client-executions.ts';
export type * from './client-history.ts';
export type * from './client-records.ts';
export type * from './client-stream.ts';
export * from './client-webhook.ts';
export type * from './client-workflows.ts';
export { CuelineError } from './error.ts';
export type * from './request.ts';
export { joinValues } from './value-list.ts';
