import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readClock } from '../../../db/clock.ts';
import type { Trx } from '../../../db/database.ts';
import { findAgents, listVisibleAgents } from '../../agents/statements/agents.ts';
import { listBudgets } from '../../budgets/statements/budgets-statements.ts';
import { requireFewMatching } from '../../budgets/verbs/change-budget.ts';
import type { DeclaredAgent, DeclaredWorkflow } from '../rules/declaration.ts';
import type { DeclaredBudget } from '../rules/declared-budget.ts';
import { findPromptsByName, findWorkflowsByName } from '../statements/declaration-statements.ts';
import { planAgent } from './plan-agent.ts';
import { planBudget } from './plan-budget.ts';
import { type DeclaredPrompt, planPrompt } from './plan-prompt.ts';
import { type DeclaredToolServer, planToolServer } from './plan-tool-server.ts';
import { planWorkflow } from './plan-workflow.ts';
import { type Change, type Kind, Named, type Planning, type Work } from './planning.ts';

/** Plans the changes that make a workspace match a declaration. Planning takes no locks and writes nothing. */

export interface Declaration {
  readonly toolServers?: readonly DeclaredToolServer[];
  readonly prompts?: readonly DeclaredPrompt[];
  readonly agents?: readonly DeclaredAgent[];
  readonly budgets?: readonly DeclaredBudget[];
  readonly workflows?: readonly DeclaredWorkflow[];
}

export interface Plan extends Pick<Planning, 'boundedAgents' | 'widenedBudgets'> {
  readonly changes: readonly Change[];
  /** In order: tool servers, prompts, agents, budgets, workflows. */
  readonly works: Readonly<Record<Kind, readonly Work[]>>;
  /** The agents that change, with the revision that the plan is based on. */
  readonly revisions: ReadonlyMap<string, number>;
}

/** Throws a `CallFailure` that names the declared thing it concerns. */
export async function planDeclaration(
  { trx, compute, sealKey }: Pick<Planning, 'trx' | 'compute' | 'sealKey'>,
  caller: Caller,
  { toolServers = [], prompts = [], agents = [], budgets = [], workflows = [] }: Declaration,
): Promise<Plan> {
  requireUniqueNames('toolServer', toolServers);
  requireUniqueNames('prompt', prompts);
  requireUniqueNames('agent', agents);
  requireUniqueNames('budget', budgets);
  requireUniqueNames('workflow', workflows);
  requireUniqueSlugs([...agents, ...workflows]);
  const works: Record<Kind, Work[]> = {
    toolServer: [],
    prompt: [],
    agent: [],
    budget: [],
    workflow: [],
  };
  const checks: (() => Promise<void>)[] = [];
  const common = await readExisting(trx, caller, { prompts, agents, budgets, workflows });
  for (const one of toolServers) {
    await planned('toolServer', one, (planning) => planToolServer(planning, one));
  }
  for (const one of prompts) await planned('prompt', one, (planning) => planPrompt(planning, one));
  for (const one of agents) await planned('agent', one, (planning) => planAgent(planning, one));
  for (const one of budgets) {
    await planned('budget', one, (planning) => planBudget(planning, one));
  }
  for (const one of workflows) {
    await planned('workflow', one, (planning) => planWorkflow(planning, one));
  }
  for (const check of checks) await check();
  const { changes, revisions, boundedAgents, widenedBudgets } = common;
  if (widenedBudgets.length > 0) {
    const result = common.budgets.rows.filter(({ apiKeyIds }) => apiKeyIds === null);
    await requireFewMatching(trx, caller.workspaceId, result);
  }
  return { changes, works, revisions, boundedAgents, widenedBudgets };

  async function planned(
    kind: Kind,
    { name }: { readonly name: string },
    plan: (planning: Planning) => Promise<void>,
  ): Promise<void> {
    const add = (work: Work) =>
      works[kind].push((at, events) => withName(kind, name, () => work(at, events)));
    const addCheck: Planning['addCheck'] = (check) =>
      checks.push(() => withName(kind, name, check));
    await withName(kind, name, () => plan({ ...common, compute, sealKey, add, addCheck }));
  }
}

/** Reads only what the declaration names: a workspace may have far more. */
async function readExisting(
  trx: Trx,
  caller: Caller,
  declared: Required<Omit<Declaration, 'toolServers'>>,
): Promise<Omit<Planning, 'add' | 'addCheck' | 'compute' | 'sealKey'>> {
  const names = namesIn(declared);
  const visible = await listVisibleAgents(trx, caller, names.agents);
  const agents = await findAgents(trx, caller, visible);
  const prompts = await findPromptsByName(trx, caller, names.prompts);
  return {
    trx,
    caller,
    nowMs: await readClock(trx),
    versions: new Map(),
    changes: [],
    revisions: new Map(),
    prompts: new Named('prompt', inUse(prompts)),
    agents: new Named('agent', inUse(agents)),
    mayBeInactive: new Set(),
    budgets: new Named('budget', await listBudgets(trx, caller.workspaceId)),
    boundedAgents: new Set(),
    widenedBudgets: [],
    toolServers: new Map(),
    workflows: new Named('workflow', await findWorkflowsByName(trx, caller, names.workflows)),
  };
}

/** Agents name prompts. Workflows name the agents of steps and fallbacks, and budgets those of their scope. */
function namesIn({
  prompts,
  agents,
  budgets,
  workflows,
}: Required<Omit<Declaration, 'toolServers'>>) {
  const called = workflows.flatMap(({ steps }) =>
    steps.flatMap(({ agent, fallback }) => [agent, fallback?.agent ?? agent]),
  );
  const counted = budgets.flatMap(({ scope }) => scope?.agents ?? []);
  const names = (things: readonly { readonly name: string }[]) => things.map(({ name }) => name);
  return {
    prompts: [...new Set([...names(prompts), ...agents.map(({ prompt }) => prompt)])],
    agents: [...new Set([...names(agents), ...called, ...counted])],
    workflows: names(workflows),
  };
}

/** Drops archived rows if another row has the same name. */
export function inUse<Row extends { readonly name: string; readonly archived: boolean }>(
  rows: readonly Row[],
): Row[] {
  const open = new Set(rows.filter(({ archived }) => !archived).map(({ name }) => name));
  return rows.filter(({ name, archived }) => !archived || !open.has(name));
}

function requireUniqueNames(kind: Kind, rows: readonly { readonly name: string }[]): void {
  const names = rows.map(({ name }) => name);
  const duplicate = names.find((name, at) => names.indexOf(name) !== at);
  if (duplicate === undefined) return;
  throw invalidRequest(`The ${wordOf(kind)} "${duplicate}" is declared twice.`);
}

function wordOf(kind: Kind): string {
  return kind === 'toolServer' ? 'tool server' : kind;
}

function requireUniqueSlugs(
  rows: readonly { readonly slug?: string; readonly aliases?: readonly string[] }[],
): void {
  const declared = new Set<string>();
  const add = (kind: 'slug' | 'alias', name: string) => {
    if (declared.has(name)) throw invalidRequest(`The ${kind} "${name}" is declared twice.`);
    declared.add(name);
  };
  for (const { slug } of rows) if (slug !== undefined) add('slug', slug);
  for (const { aliases = [] } of rows) for (const alias of aliases) add('alias', alias);
}

/** Adds the name of the declared thing to a failure. */
async function withName<T>(kind: Kind, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const { code, message, fields } = error;
    throw new CallFailure(code, `The ${wordOf(kind)} "${name}": ${message}`, { ...fields });
  }
}
