import { agents } from './agents.ts';
import { batches } from './batches.ts';
import { alerts, endpoints, events } from './events.ts';
import { executions } from './executions.ts';
import { history } from './history.ts';
import { keys } from './keys.ts';
import { prompts, versions } from './prompts.ts';
import { type ClientOptions, createOpenStream, createRequest } from './request.ts';
import { session } from './session.ts';
import { streams } from './stream.ts';
import { declaration, schedules, webhooks } from './triggers.ts';
import { workflows } from './workflows.ts';
import {
  erasures,
  invitations,
  members,
  prices,
  providers,
  views,
  workspace,
} from './workspace.ts';

/**
 * Client of the API. Depends only on `fetch`; works in Node and in browsers.
 *
 *     const cueline = createClient({ baseURL: 'http://127.0.0.1:4000', key: 'cue_…' });
 *     const execution = await cueline.executeAndWait('agt_…', { topic: 'tides' });
 *     console.log(execution.status, execution.outputText);
 */
export function createClient(options: ClientOptions) {
  const request = createRequest(options);
  return {
    ...executions(request, options),
    ...streams(createOpenStream(options), options),
    ...history(request, createOpenStream(options)),
    ...workspace(request),
    ...events(request),
    agents: agents(request),
    batches: batches(request, createOpenStream(options)),
    prompts: prompts(request),
    versions: versions(request),
    workflows: workflows(request, options),
    schedules: schedules(request),
    webhooks: webhooks(request),
    endpoints: endpoints(request),
    alerts: alerts(request),
    declaration: declaration(request),
    keys: keys(request),
    providers: providers(request),
    prices: prices(request),
    members: members(request),
    erasures: erasures(request),
    invitations: invitations(request),
    views: views(request),
    session: session(request),
    /** Calls any operation by its route, for operations without a method of their own. */
    request,
  };
}

export type Cueline = ReturnType<typeof createClient>;

export type * from './agents.ts';
export type * from './batches.ts';
export { CuelineError } from './error.ts';
export type * from './events.ts';
export type * from './executions.ts';
export type * from './history.ts';
export type * from './keys.ts';
export type * from './prompts.ts';
export type * from './request.ts';
export type * from './stream.ts';
export type * from './triggers.ts';
export { joinValues } from './value-list.ts';
export type * from './workflows.ts';
export type * from './workspace.ts';
