import { agents, prompts } from './agents.ts';
import { batches } from './batches.ts';
import { events } from './events.ts';
import { executions } from './executions.ts';
import { history } from './history.ts';
import { connect } from './method.ts';
import { type ClientOptions, type Request, withCheckedKey } from './request.ts';
import { session } from './session.ts';
import { streams } from './stream.ts';
import { triggers } from './triggers.ts';
import { workflows } from './workflows.ts';
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
    ...workspace(connection),
    ...people(connection),
    ...models(connection),
    session: session(connection),
    request: connection.request,
  };
}

export type * from './agents.ts';
export type * from './batches.ts';
export { CuelineError } from './error.ts';
export type * from './executions.ts';
export type * from './history.ts';
export type * from './records.ts';
export type * from './request.ts';
export type * from './stream.ts';
export { joinValues } from './value-list.ts';
export * from './webhook.ts';
export type * from './workflows.ts';
