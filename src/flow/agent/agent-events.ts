import type { Action, LifecycleState } from '../../core/agent/agent.ts';
import type { EventType } from '../../core/event/event.ts';
import { toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import { readClock } from '../../db/clock.ts';
import type { Trx } from '../../db/database.ts';
import type { AgentRow } from '../../store/agent/agents.ts';
import { writeEvents } from '../../store/event/events.ts';

/** Events of agents. Each comes last in its transaction. */

type CallerOf = Pick<Caller, 'workspaceId'>;
type AgentOf = Pick<AgentRow, 'id' | 'promptId'>;

export function writePinned(
  trx: Trx,
  caller: CallerOf,
  agent: AgentOf,
  promptVersionId: string,
): Promise<void> {
  const promptId = toId('prompt', agent.promptId);
  return write(trx, caller, agent, 'agent.pinned', {
    ...{ promptId, promptVersionId: toId('version', promptVersionId) },
  });
}

export function writeMoved(
  trx: Trx,
  caller: CallerOf,
  agent: AgentOf,
  action: Action,
  { stage }: LifecycleState,
): Promise<void> {
  return write(trx, caller, agent, 'agent.moved', { action, status: stage });
}

export function writeDeleted(trx: Trx, caller: CallerOf, agent: AgentOf): Promise<void> {
  return write(trx, caller, agent, 'agent.deleted', {});
}

async function write(
  trx: Trx,
  { workspaceId }: CallerOf,
  { id }: AgentOf,
  type: EventType,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  await writeEvents(trx, [
    {
      ...{ workspaceId, type, atMs: await readClock(trx), subject: id, agentId: id, user: null },
      data: JSON.stringify({ agentId: toId('agent', id), ...data }),
    },
  ]);
}
