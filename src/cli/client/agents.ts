import type { AgentFilters, LifecycleAction } from '../../client/index.ts';
import { allPages } from './pages.ts';
import { printDone, printList, printOne } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline agents`: list and show agents, change their stage, pin versions. */

export async function listAgents(
  { cueline, signal, json }: Call,
  filters: AgentFilters,
): Promise<void> {
  const rows = allPages(async (page) => {
    const { agents, pagination } = await cueline.agents.list({ ...filters, ...page }, { signal });
    return { rows: agents, total: pagination.total };
  });
  const fields = [
    'agentId',
    'agentName',
    'slug',
    'status',
    'apiEnabled',
    'promptVersionLabel',
  ] as const;
  await printList(rows, fields, json);
}

export async function showAgent({ cueline, signal, json }: Call, agentId: string): Promise<void> {
  await printOne(await cueline.agents.get(agentId, { signal }), json);
}

export async function moveAgent(
  { cueline, signal, json }: Call,
  agentId: string,
  action: LifecycleAction,
): Promise<void> {
  const agent = await cueline.agents.move(agentId, action, { signal });
  const state = agent.archived ? 'archived' : agent.status;
  await printDone(agent, `${agent.agentName} is now ${state}.`, json);
}

export async function listPins({ cueline, signal, json }: Call, agentId: string): Promise<void> {
  const rows = allPages(async (page) => {
    const { pins, pagination } = await cueline.agents.pins(agentId, page, { signal });
    return { rows: pins, total: pagination.total };
  });
  const fields = ['pinnedAt', 'promptVersionId', 'promptVersionLabel', 'pinnedBy'] as const;
  await printList(rows, fields, json);
}

export async function pinVersion(
  { cueline, signal, json }: Call,
  agentId: string,
  promptVersionId: string,
): Promise<void> {
  const agent = await cueline.agents.update(agentId, { promptVersionId }, { signal });
  await printDone(agent, `${agent.agentName} now pins ${agent.promptVersionLabel}.`, json);
}
