import { adaptedMethods } from './adapted-methods.ts';
import { agents } from './agents.ts';
import { batches } from './batches.ts';
import { executions } from './executions.ts';
import { history } from './history.ts';
import { type CreateMethod, type Methods, mergeMethods, methodsFrom, methodsOf } from './method.ts';
import { prompts } from './prompts.ts';
import { type ClientOptions, createOpenStream, createRequest, type Request } from './request.ts';
import { resources } from './resources.ts';
import { session } from './session.ts';
import { streams } from './stream.ts';
import { workflows } from './workflows.ts';

/**
 * Client of the API. Depends only on `fetch`; works in Node and in browsers.
 *
 *     const cueline = createClient({ baseURL: 'http://127.0.0.1:4000', key: 'cue_…' });
 *     const execution = await cueline.executeAndWait('agt_…', { topic: 'tides' });
 *     console.log(execution.status, execution.outputText);
 */
export function createClient(options: ClientOptions): Cueline {
  const request = createRequest(options);
  const method = methodsOf(request);
  return mergeMethods(methodsFrom(resources, method), writtenMethods(options, request, method));
}

/** A type of its own, so that the package's types keep the comments of the table. */
export type Cueline = Methods<typeof resources> & ReturnType<typeof writtenMethods>;

function writtenMethods(options: ClientOptions, request: Request, method: CreateMethod) {
  const open = createOpenStream(options);
  return {
    ...adaptedMethods(method),
    ...executions(request, method, options),
    ...streams(open, options),
    ...history(method, open),
    agents: agents(request, method),
    batches: batches(method, open),
    prompts: prompts(request),
    workflows: workflows(request, method, options),
    session: session(request),
    /** Calls any operation by its route, for operations without a method of their own. */
    request,
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
export type * from './workflows.ts';
