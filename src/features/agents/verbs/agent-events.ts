import type { Action, LifecycleState } from '../../../core/agent/agent.ts';
import type { EventType, NewEvent } from '../../../core/event/event.ts';
import { toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readClock } from '../../../db/clock.ts';
import type { Trx } from '../../../db/database.ts';
import type { AgentRow } from '../statements/agents.ts';

/** Events of agents. */

type CallerOf = Pick<Caller, 'workspaceId'>;
type AgentOf = Pick<AgentRow, 'id' | 'promptId'>;

export function pinned(
  trx: Trx,
  caller: CallerOf,
  agent: AgentOf,
  promptVersionId: string,
): Promise<NewEvent> {
  const promptId = toId('prompt', agent.promptId);
  return newEvent(trx, caller, agent, 'agent.pinned', {
    ...{ promptId, promptVersionId: toId('version', promptVersionId) },
  });
}

export function moved(
  trx: Trx,
  caller: CallerOf,
  agent: AgentOf,
  action: Action,
  { stage }: LifecycleState,
): Promise<NewEvent> {
  return newEvent(trx, caller, agent, 'agent.moved', { action, status: stage });
}

export function deleted(trx: Trx, caller: CallerOf, agent: AgentOf): Promise<NewEvent> {
  return newEvent(trx, caller, agent, 'agent.deleted', {});
}

async function newEvent(
  trx: Trx,
  { workspaceId }: CallerOf,
  { id }: AgentOf,
  type: EventType,
  data: Readonly<Record<string, string>>,
): Promise<NewEvent> {
  return {
    ...{ workspaceId, type, atMs: await readClock(trx), subject: id, agentId: id, user: null },
    data: JSON.stringify({ agentId: toId('agent', id), ...data }),
  };
}
