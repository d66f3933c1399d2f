import type { FastifyInstance } from 'fastify';
import { CallFailure, notFound } from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { listSteps } from '../../../engine/read/steps.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { mayRead, visibleExecution } from '../../people/access/visible-resources.ts';
import { cancelExecution, getExecution } from '../contract/executions-contract.ts';
import { listExecutionSteps } from '../contract/steps-contract.ts';
import { visibleExecutionWire, visibleStep } from './execution-wire.ts';
import { waitFor } from './wait-for.ts';

/** Reads and cancels one execution. */
export function executionRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { reads, waiters } = deps;
  const { waits } = deps.shares;

  route(app, deps, getExecution, async (context) => {
    const { params, query, caller, request, reply } = context;
    const wait = {
      ...{ id: fromId('execution', params.executionId), seconds: query.wait, caller },
      reauthenticate: () => deps.authenticator.authenticate(request, getExecution),
      async read(caller: Caller) {
        const execution = await visibleExecution(reads, caller, params, (agent) =>
          allowAgentOrigins({ ...context, caller }, agent),
        );
        // For a key without `read`, executions that it did not start do not exist.
        if (!mayRead(caller, execution)) throw notFound('execution');
        return execution;
      },
    };
    const { row, viewer } = await waitFor({ waits, waiters }, wait, reply);
    return {
      status: 200,
      body: visibleExecutionWire(viewer, row),
      ...(row.status === 'processing' && { headers: { 'retry-after': '1' } }),
    };
  });

  route(app, deps, listExecutionSteps, async (context) => {
    const { caller } = context;
    const execution = await visibleExecution(reads, caller, context.params, (agent) =>
      allowAgentOrigins(context, agent),
    );
    if (!mayRead(caller, execution)) throw notFound('execution');
    const steps = await listSteps(deps.db, execution.id, caller.rights.includes('read'));
    return { result: { steps: steps.map((step) => visibleStep(caller, step)) } };
  });

  route(app, deps, cancelExecution, async (context) => {
    const { params, caller } = context;
    const { id, agentId } = await visibleExecution(reads, caller, params, (agent) =>
      allowAgentOrigins(context, agent),
    );
    if (!(await deps.canceler.cancel(id))) {
      throw new CallFailure('ALREADY_ENDED', 'The execution has already ended.');
    }
    const { execution } = await reads.execution({ agentId, executionId: id });
    if (!execution) throw notFound('execution');
    const shown = mayRead(caller, execution)
      ? execution
      : { ...execution, output: null, outputJson: null, refusalText: null };
    return { status: 200, body: visibleExecutionWire(caller, shown) };
  });
}
