import { costLimitMax } from '../../../core/agent/cost-limit.ts';
import { readVariables } from '../../../core/agent/variables.ts';
import { type AgentAtAdmission, decide } from '../../../core/execution/decide.ts';
import { CallFailure, requireFound } from '../../../core/failure.ts';
import type { PriceLookup } from '../../../core/model/call-bound.ts';
import { type Caller, sessionCaller } from '../../../core/people/caller.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import { agentOfRow } from '../../../engine/admit/admission-mapping.ts';
import { readUploadAgent } from '../../../engine/admit/admission-read.ts';
import { type PreparationDeps, prepareCall } from '../../../engine/admit/prepare-call.ts';

export interface EstimateDeps extends PreparationDeps {
  readonly singlePipelines: Pipelines;
  readonly prices: PriceLookup;
}

/** An agent, and the most that one call of its model with these variables may cost, in US dollars. */
export interface BoundedCall {
  readonly agent: AgentAtAdmission;
  readonly boundUsd: string;
}

/**
 * Decides a call under the highest limit of cost as admission would, but of a caller without limits, and without locks.
 * @throws {CallFailure} if it would be refused
 */
export async function boundCall(
  deps: EstimateDeps,
  caller: Caller,
  agentId: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<BoundedCall> {
  const { workspaceId, rights } = caller;
  const [row] = await deps.singlePipelines.use((send) =>
    send(readUploadAgent, { id: agentId, workspaceId }),
  );
  const agent = unlimited(agentOfRow(requireFound(row, 'agent')));
  const read = readVariables(JSON.stringify(variables));
  const body = read.kind === 'variables' ? { ...read, maxCostUSD: costLimitMax } : read;
  const credential = { kind: 'session', caller } as const;
  const call = await prepareCall(
    deps,
    {
      ...{ credential, agentId, body, idempotencyKey: null, idempotencyProblem: null },
      ...{ ipAddress: null, userAgent: null },
    },
    { workspaceId, agent },
  );
  const user = { workspaceId, userId: caller.userId ?? caller.id, role: caller.role ?? 'viewer' };
  const decision = decide({
    // In any stage, and with a key that may not execute.
    caller: { ...sessionCaller(user), rights: [...rights, 'execute'] },
    ...{
      nowMs: 0,
      keyWindows: [],
      agent,
      agentCounts: null,
      replay: null,
      windows: null,
      idempotencyProblem: null,
    },
    month: { actionsPerMonth: null, month: 0, used: 0 },
    testingLimits: agent.limits,
    ...{ call, prices: deps.prices, windows: null },
  });
  if (decision.kind === 'refused') {
    throw new CallFailure(decision.code, decision.message, { ...decision.fields });
  }
  const boundUsd = decision.kind === 'accepted' ? decision.cost?.boundUsd : null;
  if (!boundUsd) throw new Error('The call was not bounded.');
  return { agent, boundUsd };
}

/** Its own limit does not matter here, nor whether it is archived. */
function unlimited({ config, ...agent }: AgentAtAdmission): AgentAtAdmission {
  const { maxCostUSD: _, ...others } = config;
  return { ...agent, config: others, archived: false };
}
