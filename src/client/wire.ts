import type { Static } from 'typebox';
import type { Answer, Body, Endpoint, Params, Query } from '../contract/endpoint.ts';
import type { Execution, ExecutionDetail } from '../contract/executions/execution-record.ts';
import type { EndpointId, Endpoints } from '../contract/index.ts';
import type { Problem } from '../contract/problem.ts';
import type { WorkflowRunDetail } from '../contract/workflows/workflow-run-record.ts';

/**
 * All that the client knows of the contract. Types only: it brings none of the contract's code with it. A build puts
 * what `contract/openapi/wire-types.ts` writes in place of this module's types, so that those of the package need no other.
 */

/** The operations by what goes over the wire, for example `GET /api/v1/agents/{agentId}`. */
export type Operations = {
  [Id in EndpointId as `${Endpoints[Id]['method']} ${Endpoints[Id]['path']}`]: Operation<
    Endpoints[Id]
  >;
};

type Operation<E extends Endpoint> = { params: Params<E>; answer: Answer<E> } & (E extends {
  readonly query: unknown;
}
  ? { query: Query<E> }
  : unknown) &
  (E extends { readonly body: unknown } ? { body: Body<E> } : unknown);

export type ProblemCode = Static<typeof Problem>['code'];
export type { Execution, ExecutionDetail, WorkflowRunDetail };
