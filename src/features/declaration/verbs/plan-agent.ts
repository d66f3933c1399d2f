import { type LifecycleState, transition } from '../../../core/agent/agent.ts';
import { asChange, type PinnedVersion } from '../../../core/agent/agent-settings.ts';
import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { identical, same } from '../../../core/json.ts';
import { requireBoundedAgent } from '../../../engine/budgets/require-bounded.ts';
import { requireSchemas } from '../../../engine/compute/require-schemas.ts';
import type { AgentRow } from '../../agents/statements/agents.ts';
import { changeAgent, changedSettings } from '../../agents/verbs/change-agent.ts';
import { moveAgent } from '../../agents/verbs/change-stage.ts';
import { createAgent, settingsOfNew } from '../../agents/verbs/create-agent.ts';
import { requireFreeNames } from '../../agents/verbs/take-slug.ts';
import { requireVersionAliases } from '../../agents/verbs/version-aliases.ts';
import {
  actionsTo,
  apiSwitch,
  type DeclaredAgent,
  declaredSettings,
  isDeclaredInactive,
  settingsChange,
} from '../rules/declaration.ts';
import { findVersionByLabel, type NamedPromptRow } from '../statements/declaration-statements.ts';
import type { Change, Planning } from './planning.ts';

/** Plans an agent: its settings, its pinned version and its stage. */
export async function planAgent(planning: Planning, declared: DeclaredAgent): Promise<void> {
  const { trx, agents, versions } = planning;
  const known = agents.find(declared.name);
  const prompt = promptOf(planning, declared, known);
  const version =
    versions.get(`${prompt.id} ${declared.version}`) ??
    (await findVersionByLabel(trx, prompt.id, declared.version));
  if (!version) {
    throw invalidRequest(`The prompt "${prompt.name}" has no version "${declared.version}".`);
  }
  const { slug = known?.slug, aliases, versionAliases = {} } = declared;
  if (declared.slug !== undefined || aliases) {
    await requireFreeNames(trx, planning.caller.workspaceId, { slug, aliases }, known?.id);
  }
  await requireVersionAliases(trx, prompt.id, versionAliases, (label) =>
    versions.has(`${prompt.id} ${label}`),
  );
  const agent = known
    ? change(planning, declared, known, version)
    : create(planning, declared, prompt, version);
  const format = agent.config.responseFormat ?? null;
  if (format && !identical(format, known?.config.responseFormat ?? null)) {
    const { compute, caller } = planning;
    await requireSchemas(compute, caller.workspaceId, agent.config, 'agentConfig.');
  }
  if (isDeclaredInactive(declared)) planning.mayBeInactive.add(agent.id);
  if (!same([agent.config, agent.promptVersionId], [known?.config, known?.promptVersionId])) {
    checkBounds(planning, agent, version);
  }
  agents.put(switchApi(planning, declared, move(planning, declared, agent)));
}

/** Whether limits of cost can hold for its calls. */
function checkBounds(
  { trx, caller, budgets, boundedAgents, addCheck }: Planning,
  agent: AgentRow,
  version: Version,
): void {
  boundedAgents.add(agent.id);
  addCheck(() => {
    const counted = budgets.rows.some(
      ({ enabled, agentIds }) => enabled && (agentIds?.includes(agent.id) ?? true),
    );
    return requireBoundedAgent(trx, caller.workspaceId, agent, version, counted);
  });
}

type Version = PinnedVersion & { readonly id: string };

/** If several prompts have the name, the agent's own one. */
function promptOf(
  { prompts }: Planning,
  { prompt: name }: DeclaredAgent,
  known: AgentRow | null,
): NamedPromptRow {
  const own = known && prompts.all(name).find(({ id }) => id === known.promptId);
  const prompt = own ?? prompts.find(name);
  if (!prompt) throw invalidRequest(`There is no prompt "${name}".`);
  if (!known || known.promptId === prompt.id) return prompt;
  const message = `It uses another prompt than "${name}". The prompt of an agent cannot change.`;
  throw new CallFailure('CONFLICT', message);
}

function create(
  { caller, nowMs, changes, add }: Planning,
  declared: DeclaredAgent,
  prompt: NamedPromptRow,
  version: Version,
): AgentRow {
  const { name } = declared;
  const set = asChange(declaredSettings(declared, version));
  const settings = settingsOfNew(caller, set, prompt, version);
  changes.push({ kind: 'agent', name, action: 'create' });
  const created = { id: uuid7(nowMs), promptId: prompt.id, promptVersionId: version.id };
  add((trx) => createAgent(trx, caller, { ...set, ...created }, true));
  const at = new Date(nowMs);
  return {
    ...settings,
    ...created,
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
  { caller, changes, revisions, add }: Planning,
  declared: DeclaredAgent,
  known: AgentRow,
  version: Version,
): AgentRow {
  const { id, name } = known;
  const { change: set, fields } = settingsChange(known, declaredSettings(declared, version, known));
  const pins = version.id !== known.promptVersionId;
  if (fields.length === 0 && !pins) return known;
  const settings = changedSettings(caller, known, set, version);
  const changeOf = (one: Omit<Change, 'kind' | 'name'>): Change => ({
    kind: 'agent',
    name,
    ...one,
  });
  changes.push(...fields.map((field) => changeOf({ action: 'change', ...field })));
  if (pins) {
    const { promptVersionLabel: from } = known;
    changes.push(changeOf({ action: 'pin', field: 'version', from, to: version.label }));
  }
  revisions.set(id, known.revision);
  const patch = { change: set, ...(pins && { promptVersionId: version.id }) };
  add((trx, events) => changeAgent(trx, caller, id, patch, () => true, events, true));
  return { ...known, ...settings, promptVersionId: version.id, promptVersionLabel: version.label };
}

function move(planning: Planning, { name, stage }: DeclaredAgent, agent: AgentRow): AgentRow {
  const { caller, changes, add } = planning;
  if (stage === undefined || (stage === agent.stage && !agent.archived)) return agent;
  const actions = actionsTo(agent, stage);
  if (!actions) {
    const where = agent.archived ? 'while it is archived' : `from stage ${agent.stage}`;
    throw new CallFailure('ILLEGAL_TRANSITION', `It cannot move to stage ${stage} ${where}.`);
  }
  const change = { field: 'stage', from: agent.stage, to: stage };
  changes.push({ kind: 'agent', name, action: 'move', ...change });
  checkRevision(planning, agent);
  for (const action of actions) {
    add((trx, events) => moveAgent(trx, caller, agent.id, action, events));
  }
  const at = actions.reduce<LifecycleState>(
    (from, action) => transition(from, action) ?? from,
    agent,
  );
  return { ...agent, stage: at.stage, archived: at.archived, apiEnabled: at.apiEnabled };
}

/** After the moves, because they change it. */
function switchApi(planning: Planning, declared: DeclaredAgent, agent: AgentRow): AgentRow {
  const { caller, changes, add } = planning;
  const apiEnabled = apiSwitch(agent, declared);
  if (apiEnabled === null) return agent;
  const change = { field: 'apiEnabled', from: agent.apiEnabled, to: apiEnabled };
  changes.push({ kind: 'agent', name: agent.name, action: 'change', ...change });
  checkRevision(planning, agent);
  const patch = { change: {}, apiEnabled };
  add((trx, events) => changeAgent(trx, caller, agent.id, patch, () => true, events, true));
  return { ...agent, apiEnabled };
}

/** New agents need no check: nobody else can change them. */
function checkRevision({ revisions, agents }: Planning, { id, name, revision }: AgentRow): void {
  if (agents.all(name).some((known) => known.id === id)) revisions.set(id, revision);
}
