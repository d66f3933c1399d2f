import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { slugOf } from '../../../core/slug.ts';
import { referenceOf } from '../../../core/tools/tool-reference.ts';
import { toolConcurrencyDefault, toolTimeoutMsDefault } from '../../../core/tools/tool-server.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { inSnapshot } from '../../../db/in-snapshot.ts';
import { type AgentRow, findAgents, listVisibleAgents } from '../../agents/statements/agents.ts';
import { type BudgetRow, listBudgets } from '../../budgets/statements/budgets-statements.ts';
import type { VersionRow } from '../../prompts/statements/versions.ts';
import { definitionOf } from '../../tools/rules/tool-definition.ts';
import { listToolServers, readCatalog } from '../../tools/statements/tool-servers.ts';
import { agentIdsOf, checkAgainst, invalidWorkflow } from '../../workflows/verbs/check-workflow.ts';
import {
  type DeclaredAgent,
  type DeclaredWorkflow,
  declareAgent,
  declareDefinition,
} from '../rules/declaration.ts';
import { type DeclaredBudget, declareBudget } from '../rules/declared-budget.ts';
import {
  findDeclaredVersions,
  findPromptsByName,
  findWorkflowsByName,
  type NamedPromptRow,
  type NamedWorkflowRow,
} from '../statements/declaration-statements.ts';
import { inUse } from './plan-declaration.ts';
import type { Kind } from './planning.ts';

/**
 * Reads a workspace as a declaration, from one snapshot. A declaration identifies things by name, so what has an ambiguous
 * name is omitted, with everything that refers to it. Applying the result to the same workspace changes nothing.
 */

export interface ReadDeclaration {
  readonly declaration: {
    readonly toolServers?: readonly object[];
    readonly prompts: readonly object[];
    readonly agents: readonly DeclaredAgent[];
    /** For owners, if there are some. */
    readonly budgets?: readonly DeclaredBudget[];
    readonly workflows: readonly DeclaredWorkflow[];
  };
  readonly omitted: readonly Omitted[];
}

/** What the declaration omits. Things of one kind with the same name appear once. */
interface Omitted {
  readonly kind: Kind;
  readonly name: string;
  readonly reason: string;
}

export function readDeclaration(db: Db, caller: Caller): Promise<ReadDeclaration> {
  return inSnapshot(db, async (trx) => {
    const omitted: Omitted[] = [];
    const visible = await findAgents(trx, caller, await listVisibleAgents(trx, caller));
    const named = uniquelyNamed('agent', visible.filter(isOpen).sort(byName), omitted);
    const pinned = new Set(visible.filter(isOpen).map(({ promptId }) => promptId));
    const allPrompts = await findPromptsByName(trx, caller, null);
    const shown = ({ id, archived }: NamedPromptRow) =>
      pinned.has(id) || (!archived && caller.allAgents);
    const prompts = uniquelyNamed('prompt', inUse(allPrompts).toSorted(byName), omitted, shown);
    const names = new Map(prompts.map(({ id, name }) => [id, name]));
    const agents = named.filter(({ name, promptId }) => {
      if (names.has(promptId)) return true;
      omitted.push({ kind: 'agent', name, reason: promptOmission(allPrompts, promptId) });
      return false;
    });
    const included = new Map(agents.map((agent) => [agent.id, agent]));
    const defined = (await findWorkflowsByName(trx, caller, null)).sort(byName);
    const workflows: NamedWorkflowRow[] = [];
    for (const row of defined) {
      const reason = workflowOmission(row, visible, included);
      if (reason === null) workflows.push(row);
      else omitted.push({ kind: 'workflow', name: row.name, reason });
      // Checking a workflow of 50 steps takes milliseconds.
      await yieldToEventLoop();
    }
    const versions = await findDeclaredVersions(trx, [...names.keys()], agents);
    const byVersion = new Map(versions.map((version) => [version.id, version]));
    const agentNames = new Map(agents.map(({ id, name }) => [toId('agent', id), name]));
    const budgets = (await budgetsFor(trx, caller)).filter((budget) => {
      const reason = budgetOmission(budget, visible, included);
      if (reason !== null) omitted.push({ kind: 'budget', name: budget.name, reason });
      return reason === null;
    });
    const toolServers = caller.rights.includes('own') ? await declareToolServers(trx, caller) : [];
    const declaration = {
      ...(toolServers.length > 0 && { toolServers }),
      prompts: prompts.map((prompt) => ({
        name: prompt.name,
        ...(prompt.description !== null && { description: prompt.description }),
        ...(prompt.visibility === 'public' && { visibility: prompt.visibility }),
        versions: versions.filter(({ promptId }) => promptId === prompt.id).map(declareVersion),
      })),
      agents: agents.flatMap((agent) => {
        const version = byVersion.get(agent.promptVersionId);
        const prompt = names.get(agent.promptId);
        return version && prompt !== undefined ? [declareAgent(agent, { prompt, version })] : [];
      }),
      ...(budgets.length > 0 && {
        budgets: budgets.map((one) => declareBudget(one, (id) => included.get(id)?.name ?? id)),
      }),
      workflows: workflows.map((row) => ({
        name: row.name,
        ...(row.slug !== slugOf(row.name) && { slug: row.slug }),
        ...(row.description !== null && { description: row.description }),
        ...(!row.enabled && { enabled: false }),
        ...declareDefinition(row.definition, (id) => agentNames.get(id) ?? id),
      })),
    };
    return { declaration, omitted };
  });
}

/** Without the headers: they are secrets, and a declaration without them leaves them as they are. */
async function declareToolServers(trx: Trx, { workspaceId }: Caller): Promise<object[]> {
  const declared: object[] = [];
  for (const row of await listToolServers(trx, workspaceId)) {
    const { id, name, kind, url, timeoutMs, maxConcurrency, enabled } = row;
    declared.push({
      ...{ name, kind },
      ...(url !== null && { url }),
      ...(timeoutMs !== toolTimeoutMsDefault && { timeoutMs }),
      ...(maxConcurrency !== toolConcurrencyDefault && { maxConcurrency }),
      ...(!enabled && { enabled }),
      tools: (await readCatalog(trx, id)).map(definitionOf),
    });
  }
  return declared;
}

/** The shown rows with a unique name. */
function uniquelyNamed<Row extends { readonly name: string }>(
  kind: Omitted['kind'],
  rows: readonly Row[],
  omitted: Omitted[],
  shown: (row: Row) => boolean = () => true,
): Row[] {
  const sharing = Map.groupBy(rows, ({ name }) => name);
  for (const [name, those] of sharing) {
    if (those.length === 1 || !those.some(shown)) continue;
    omitted.push({ kind, name, reason: `There are ${those.length} ${kind}s with this name.` });
  }
  return rows.filter((row) => sharing.get(row.name)?.length === 1 && shown(row));
}

function promptOmission(prompts: readonly NamedPromptRow[], promptId: string): string {
  const prompt = prompts.find(({ id }) => id === promptId);
  if (!prompt) return 'Its prompt is private.';
  return inUse(prompts).some(({ id }) => id === promptId)
    ? `Its prompt "${prompt.name}" is omitted.`
    : `Its prompt "${prompt.name}" is archived, and another one has that name.`;
}

/** A workflow that cannot be created any more is omitted: agents and rules change after a version was saved. */
function workflowOmission(
  { definition }: NamedWorkflowRow,
  visible: readonly AgentRow[],
  included: ReadonlyMap<string, AgentRow>,
): string | null {
  const agentIds = agentIdsOf(definition);
  const missing = agentIds.find((id) => !included.has(id));
  if (missing !== undefined) return agentOmission(visible, missing);
  const agents = agentIds.flatMap((id) => included.get(id) ?? []);
  const { problems } = checkAgainst(agents, definition, new Set(agentIds));
  return problems.length > 0 ? invalidWorkflow(problems).message : null;
}

async function budgetsFor(trx: Trx, { rights, workspaceId }: Caller): Promise<BudgetRow[]> {
  return rights.includes('own') ? (await listBudgets(trx, workspaceId)).sort(byName) : [];
}

function budgetOmission(
  { agentIds, apiKeyIds }: BudgetRow,
  visible: readonly AgentRow[],
  included: ReadonlyMap<string, AgentRow>,
): string | null {
  if (apiKeyIds) return 'It counts only some API keys, which a declaration does not contain.';
  const missing = agentIds?.find((id) => !included.has(id));
  return missing === undefined ? null : agentOmission(visible, missing);
}

function agentOmission(visible: readonly AgentRow[], agentId: string): string {
  const agent = visible.find(({ id }) => id === agentId);
  if (!agent) return 'One of its agents was deleted.';
  return `Its agent "${agent.name}" is ${agent.archived ? 'archived' : 'omitted'}.`;
}

function isOpen({ archived }: AgentRow): boolean {
  return !archived;
}

/** By name: things from one apply have the same time, so an order by age would differ between workspaces. */
function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}

function declareVersion(version: VersionRow): object {
  const { label, system, user, messages, toolChoice, settings, notes } = version;
  const tools = version.executedTools?.map(referenceOf) ?? version.tools;
  const { model, temperature, maxTokens, topP } = version;
  const given = {
    label,
    system,
    user,
    messages,
    tools,
    toolChoice,
    model,
    temperature,
    maxTokens,
    topP,
    ...settings,
    notes,
    variableSchemas: version.variableSchemas && JSON.parse(version.variableSchemas),
    responseFormat: version.responseFormat && JSON.parse(version.responseFormat),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
