import type { FastifyInstance } from 'fastify';
import { cancelExecution, getExecution } from '../../../contract/executions/executions.ts';
import type { Caller } from '../../../core/execution/caller.ts';
import { CallFailure } from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import type { ExecutionDetailRow } from '../../../store/execution/executions.ts';
import { mayRead, noSuchExecution, visibleExecution } from '../../access/visible-resources.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { route } from '../../http/route.ts';
import { waitFor } from '../../http/wait-for.ts';
import { executionDetailWire } from './execution-wire.ts';

/** Status and cancel. */
export function executionRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const { reads, waiters, waitSlots: slots } = parts;

  route(app, parts, getExecution, async (context) => {
    const { params, query, caller, request, reply } = context;
    const wait = {
      ...{ id: fromId('execution', params.executionId), seconds: query.wait, caller },
      again: () => parts.authenticator.authenticate(request, getExecution),
      async read(now: Caller) {
        const found = await visibleExecution(reads, now, params, (agent) =>
          allowAgentOrigins({ ...context, caller: now }, agent),
        );
        // A key that may execute but not read reaches the runs it started, and no others exist for it.
        if (!mayRead(now, found)) throw noSuchExecution();
        return found;
      },
    };
    const row = await waitFor({ slots, waiters }, wait, reply);
    return {
      status: 200,
      body: executionDetailWire(row),
      ...(row.status === 'processing' && { headers: { 'retry-after': '1' } }),
    };
  });

  route(app, parts, cancelExecution, async (context) => {
    const { params, caller } = context;
    const { id, agentId } = await visibleExecution(reads, caller, params, (agent) =>
      allowAgentOrigins(context, agent),
    );
    if (!(await parts.canceler.cancel(id))) {
      throw new CallFailure('ALREADY_ENDED', `The execution has ended already.`);
    }
    const { execution } = await reads.execution({ agentId, executionId: id });
    if (!execution) throw noSuchExecution();
    const shown = mayRead(caller, execution) ? execution : withoutContents(execution);
    return { status: 200, body: executionDetailWire(shown) };
  });
}

/** Who may end a run and not read it learns that it has ended. */
function withoutContents(row: ExecutionDetailRow): ExecutionDetailRow {
  return {
    ...row,
    systemPrompt: null,
    userPrompt: null,
    inputVariables: null,
    output: null,
    ipAddress: null,
    userAgent: null,
  };
}
