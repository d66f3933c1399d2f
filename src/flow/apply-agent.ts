import {
  type DeclaredAgent,
  declaredSettings,
  settingsChange,
  wayTo,
} from '../core/declaration.ts';
import { CallFailure } from '../core/failure.ts';
import type { AgentRow } from '../store/agents.ts';
import { findVersionLabeled, type NamedPromptRow } from '../store/declaration.ts';
import type { VersionRow } from '../store/versions.ts';
import type { Change, Ground } from './apply-declaration.ts';
import { changeAgent } from './change-agent.ts';
import { createAgent } from './create-agent.ts';
import { moveAgent } from './move-agent.ts';

/** The agent with all of its settings, the version it pins, and its stage. */
export async function applyAgent(ground: Ground, declared: DeclaredAgent): Promise<void> {
  const { trx, caller, agents } = ground;
  const known = agents.find(declared.name);
  const prompt = promptOf(ground, declared, known);
  const version = await findVersionLabeled(trx, prompt.id, declared.version);
  if (!version) {
    const message = `The prompt "${prompt.name}" has no version "${declared.version}".`;
    throw new CallFailure('INVALID_REQUEST', message);
  }
  const agent = known
    ? await change(ground, declared, known, version)
    : await create(ground, declared, prompt, version);
  agents.put(await move(ground, declared, agent));

  async function create(
    { changes }: Ground,
    agent: DeclaredAgent,
    { id: promptId }: NamedPromptRow,
    pinned: VersionRow,
  ): Promise<AgentRow> {
    changes.push({ kind: 'agent', name: agent.name, action: 'create' });
    const pin = { promptId, promptVersionId: pinned.id };
    return createAgent(trx, caller, { ...declaredSettings(agent, pinned), ...pin });
  }
}

/** Of several prompts of that name it is the one that the agent is built from. */
function promptOf(
  { prompts }: Ground,
  { prompt: name }: DeclaredAgent,
  known: AgentRow | null,
): NamedPromptRow {
  const own = known && prompts.all(name).find(({ id }) => id === known.promptId);
  const prompt = own ?? prompts.find(name);
  if (!prompt) throw new CallFailure('INVALID_REQUEST', `There is no prompt "${name}".`);
  if (!known || known.promptId === prompt.id) return prompt;
  const message = `It is built from another prompt than "${name}", which never changes.`;
  throw new CallFailure('CONFLICT', message);
}

async function change(
  { trx, caller, changes }: Ground,
  declared: DeclaredAgent,
  known: AgentRow,
  version: VersionRow,
): Promise<AgentRow> {
  const { name } = declared;
  const { change: set, fields } = settingsChange(known, declaredSettings(declared, version));
  const pins = version.id !== known.promptVersionId;
  if (fields.length === 0 && !pins) return known;
  const patch = { change: set, ...(pins && { promptVersionId: version.id }) };
  const changed = await changeAgent(trx, caller, known.id, patch, () => true);
  const told = (one: Omit<Change, 'kind' | 'name'>): Change => ({ kind: 'agent', name, ...one });
  changes.push(...fields.map((field) => told({ action: 'change', ...field })));
  if (pins) {
    const { promptVersionLabel: from } = known;
    changes.push(told({ action: 'pin', field: 'version', from, to: version.label }));
  }
  return changed;
}

async function move(
  { trx, caller, changes }: Ground,
  { name, stage }: DeclaredAgent,
  agent: AgentRow,
): Promise<AgentRow> {
  if (stage === undefined || (stage === agent.stage && !agent.archived)) return agent;
  const way = wayTo(agent, stage);
  if (!way) {
    const where = agent.archived ? 'while it is archived' : `from stage ${agent.stage}`;
    throw new CallFailure('ILLEGAL_TRANSITION', `There is no way to stage ${stage} ${where}.`);
  }
  let moved = agent;
  for (const action of way) moved = await moveAgent(trx, caller, agent.id, action);
  const change = { field: 'stage', from: agent.stage, to: stage };
  changes.push({ kind: 'agent', name, action: 'move', ...change });
  return moved;
}
