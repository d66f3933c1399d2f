import type { Static } from 'typebox';
import type { EndpointId, Endpoints } from '../faces/reference/operations-index.ts';
import type { EventData } from '../features/events/contract/event-types.ts';
import type {
  Execution,
  ExecutionDetail,
} from '../features/executions/contract/execution-record.ts';
import type * as contract from '../features/workflows/contract/workflow-run-record.ts';
import type { Body, Endpoint, Params, Query, ResponseBody } from '../http/contract/operation.ts';
import type { Problem } from '../http/contract/problem.ts';
import type { isOwnId } from '../http/contract/shared.ts';

/**
 * Types that the client takes from the contract; it imports none of the contract's code. The build
 * replaces the types of this module with the output of `faces/reference/wire-types.ts`, so that
 * the package's types have no dependencies.
 */

/** Operations by id. The OpenAI API has clients of its own. */
export type Operations = {
  [Id in EndpointId as Endpoints[Id]['path'] extends `/v1/${string}` ? never : Id]: Operation<
    Endpoints[Id]
  >;
};

type Operation<E extends Endpoint> = {
  route: `${E['method']} ${E['path']}`;
  params: Params<E>;
  response: Sent<ResponseBody<E>>;
} & (E extends { readonly query: unknown } ? { query: Query<E> } : unknown) &
  (E extends { readonly body: unknown } ? { body: Body<E> } : unknown) &
  (E extends { readonly headers: { properties: { 'If-Match': unknown } } }
    ? { ifMatch: true }
    : unknown);

/** Without the contract's mark of a resource's own identifier. */
type Sent<T> = T extends string
  ? typeof isOwnId extends keyof T
    ? string
    : T
  : T extends object
    ? { [Name in keyof T]: Sent<T[Name]> }
    : T;

export type ProblemCode = Static<typeof Problem>['code'];
export type { Execution, ExecutionDetail };
/** Data of events by their type. */
export type WebhookData = Sent<EventData>;
export type WorkflowRunDetail = Sent<contract.WorkflowRunDetail>;
