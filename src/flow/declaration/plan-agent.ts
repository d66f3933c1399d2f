import { type LifecycleState, transition } from '../../core/agent/agent.ts';
import type { PinnedVersion } from '../../core/agent/agent-settings.ts';
import {
  actionsTo,
  apiSwitch,
  type DeclaredAgent,
  declaredSettings,
  settingsChange,
} from '../../core/agent/declaration.ts';
import { CallFailure } from '../../core/failure.ts';
import { uuid7 } from '../../core/id.ts';
import type { AgentRow } from '../../store/agent/agents.ts';
import { findVersionLabeled, type NamedPromptRow } from '../../store/agent/declaration.ts';
import { changeAgent, changedSettings } from '../agent/change-agent.ts';
import { moveAgent } from '../agent/change-stage.ts';
import { createAgent, settingsOfNew } from '../agent/create-agent.ts';
import type { Change, Ground } from './plan-declaration.ts';

/** The agent with all of its settings, the version it pins, and its stage. */
export async function planAgent(ground: Ground, declared: DeclaredAgent): Promise<void> {
  const { trx, agents, versions } = ground;
  const known = agents.find(declared.name);
  const prompt = promptOf(ground, declared, known);
  const version =
    versions.get(`${prompt.id} ${declared.version}`) ??
    (await findVersionLabeled(trx, prompt.id, declared.version));
  if (!version) {
    const message = `The prompt "${prompt.name}" has no version "${declared.version}".`;
    throw new CallFailure('INVALID_REQUEST', message);
  }
  const agent = known
    ? change(ground, declared, known, version)
    : create(ground, declared, prompt, version);
  agents.put(switchApi(ground, declared, move(ground, declared, agent)));
}

type Version = PinnedVersion & { readonly id: string };

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

function create(
  { caller, nowMs, changes, add }: Ground,
  declared: DeclaredAgent,
  prompt: NamedPromptRow,
  version: Version,
): AgentRow {
  const { name } = declared;
  const settings = settingsOfNew(caller, declaredSettings(declared, version), prompt, version);
  changes.push({ kind: 'agent', name, action: 'create' });
  const made = { id: uuid7(nowMs), promptId: prompt.id, promptVersionId: version.id };
  add((trx) => createAgent(trx, caller, { ...settings, ...made }));
  const at = new Date(nowMs);
  return {
    ...settings,
    ...made,
    promptVersionLabel: version.label,
    stage: 'Draft',
    archived: false,
    apiEnabled: false,
    revision: 1,
    createdBy: caller.userId,
    createdAt: at,
    updatedAt: at,
  };
}

function change(
  { caller, changes, revisions, add }: Ground,
  declared: DeclaredAgent,
  known: AgentRow,
  version: Version,
): AgentRow {
  const { id, name } = known;
  const { change: set, fields } = settingsChange(known, declaredSettings(declared, version));
  const pins = version.id !== known.promptVersionId;
  if (fields.length === 0 && !pins) return known;
  const settings = changedSettings(caller, known, set, version);
  const told = (one: Omit<Change, 'kind' | 'name'>): Change => ({ kind: 'agent', name, ...one });
  changes.push(...fields.map((field) => told({ action: 'change', ...field })));
  if (pins) {
    const { promptVersionLabel: from } = known;
    changes.push(told({ action: 'pin', field: 'version', from, to: version.label }));
  }
  revisions.set(id, known.revision);
  const patch = { change: set, ...(pins && { promptVersionId: version.id }) };
  add((trx) => changeAgent(trx, caller, id, patch, () => true));
  return { ...known, ...settings, promptVersionId: version.id, promptVersionLabel: version.label };
}

function move(ground: Ground, { name, stage }: DeclaredAgent, agent: AgentRow): AgentRow {
  const { caller, changes, add } = ground;
  if (stage === undefined || (stage === agent.stage && !agent.archived)) return agent;
  const way = actionsTo(agent, stage);
  if (!way) {
    const where = agent.archived ? 'while it is archived' : `from stage ${agent.stage}`;
    throw new CallFailure('ILLEGAL_TRANSITION', `There is no way to stage ${stage} ${where}.`);
  }
  const change = { field: 'stage', from: agent.stage, to: stage };
  changes.push({ kind: 'agent', name, action: 'move', ...change });
  holdRevision(ground, agent);
  for (const action of way) add((trx) => moveAgent(trx, caller, agent.id, action));
  const at = way.reduce<LifecycleState>((from, action) => transition(from, action) ?? from, agent);
  return { ...agent, stage: at.stage, archived: at.archived, apiEnabled: at.apiEnabled };
}

/** Last of all, since a move sets it. */
function switchApi(ground: Ground, declared: DeclaredAgent, agent: AgentRow): AgentRow {
  const { caller, changes, add } = ground;
  const apiEnabled = apiSwitch(agent, declared);
  if (apiEnabled === null) return agent;
  const change = { field: 'apiEnabled', from: agent.apiEnabled, to: apiEnabled };
  changes.push({ kind: 'agent', name: agent.name, action: 'change', ...change });
  holdRevision(ground, agent);
  add((trx) => changeAgent(trx, caller, agent.id, { change: {}, apiEnabled }, () => true));
  return { ...agent, apiEnabled };
}

/** A new one is nobody else's to change. */
function holdRevision({ revisions, agents }: Ground, { id, name, revision }: AgentRow): void {
  if (agents.all(name).some((known) => known.id === id)) revisions.set(id, revision);
}
