import type { Caller } from '../core/admission.ts';
import type { DeclaredAgent, DeclaredWorkflow } from '../core/declaration.ts';
import { CallFailure } from '../core/failure.ts';
import { type AgentRow, findAgents, listVisibleAgents } from '../store/agents.ts';
import { type Db, inTransaction, type Trx } from '../store/db.ts';
import {
  allPrompts,
  allWorkflows,
  lockDeclaration,
  type NamedPromptRow,
  type NamedWorkflowRow,
} from '../store/declaration.ts';
import { lockLimits } from '../store/limits.ts';
import { applyAgent } from './apply-agent.ts';
import { applyPrompt, type DeclaredPrompt } from './apply-prompt.ts';
import { applyWorkflow } from './apply-workflow.ts';

/** Makes what is there as it is declared: all of it in one transaction, or nothing. */

export interface Declaration {
  readonly prompts?: readonly DeclaredPrompt[];
  readonly agents?: readonly DeclaredAgent[];
  readonly workflows?: readonly DeclaredWorkflow[];
}

export interface Change {
  readonly kind: 'prompt' | 'agent' | 'workflow';
  readonly name: string;
  readonly action: 'create' | 'change' | 'add-version' | 'pin' | 'move';
  readonly field?: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** What there is by then, by name; what is made is added. */
export interface Ground {
  readonly trx: Trx;
  readonly caller: Caller;
  readonly prompts: Named<NamedPromptRow>;
  readonly agents: Named<AgentRow>;
  readonly workflows: Named<NamedWorkflowRow>;
  readonly changes: Change[];
}

/**
 * A dry run does all of it and takes it back: what it tells is what would happen, whatever could stand in the way
 * included.
 */
export async function applyDeclaration(
  db: Db,
  caller: Caller,
  declaration: Declaration,
  dryRun: boolean,
): Promise<readonly Change[]> {
  const { prompts = [], agents = [], workflows = [] } = declaration;
  for (const [kind, rows] of [
    ['prompt', prompts],
    ['agent', agents],
    ['workflow', workflows],
  ] as const) {
    refuseTwice(kind, rows);
  }
  try {
    return await inTransaction(db, async (trx) => {
      const ground = await readGround(trx, caller);
      // Limits come before all else, each by id: calls that are being admitted hold them.
      const known = agents.flatMap(({ name }) => ground.agents.all(name).map(({ id }) => id));
      await lockLimits(trx, known);
      for (const one of prompts) await naming('prompt', one, () => applyPrompt(ground, one));
      for (const one of agents) await naming('agent', one, () => applyAgent(ground, one));
      for (const one of workflows) await naming('workflow', one, () => applyWorkflow(ground, one));
      if (dryRun) throw new TakenBack(ground.changes);
      return ground.changes;
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.changes;
    throw error;
  }
}

/** Ends the transaction of a dry run. */
class TakenBack extends Error {
  readonly changes: readonly Change[];
  constructor(changes: readonly Change[]) {
    super('a dry run is taken back');
    this.changes = changes;
  }
}

/** Things of one kind by their names, of which only what must be found by it needs to be the only one. */
export class Named<Row extends { readonly id: string; readonly name: string }> {
  readonly #rows: Row[];
  readonly #kind: string;
  constructor(kind: string, rows: readonly Row[]) {
    this.#kind = kind;
    this.#rows = [...rows];
  }

  all(name: string): Row[] {
    return this.#rows.filter((row) => row.name === name);
  }

  /** Null where there is none; a conflict where there are several. */
  find(name: string): Row | null {
    const [row = null, ...others] = this.all(name);
    if (others.length === 0) return row;
    const message = `There are ${others.length + 1} ${this.#kind}s with the name "${name}".`;
    throw new CallFailure('CONFLICT', message);
  }

  /** Adds a row, in place of an earlier state of it. */
  put(row: Row): void {
    const at = this.#rows.findIndex(({ id }) => id === row.id);
    if (at < 0) this.#rows.push(row);
    else this.#rows[at] = row;
  }
}

async function readGround(trx: Trx, caller: Caller): Promise<Ground> {
  await lockDeclaration(trx, caller.workspaceId);
  const agents = await findAgents(trx, caller, await listVisibleAgents(trx, caller));
  const prompts = await allPrompts(trx, caller.workspaceId);
  return {
    ...{ trx, caller, changes: [] },
    prompts: new Named('prompt', inUse(prompts)),
    agents: new Named('agent', inUse(agents)),
    workflows: new Named('workflow', await allWorkflows(trx, caller)),
  };
}

/** An archived one counts only where there is no other of that name. */
function inUse<Row extends { readonly name: string; readonly archived: boolean }>(
  rows: readonly Row[],
): Row[] {
  const open = new Set(rows.filter(({ archived }) => !archived).map(({ name }) => name));
  return rows.filter(({ name, archived }) => !archived || !open.has(name));
}

function refuseTwice(kind: string, rows: readonly { readonly name: string }[]): void {
  const names = rows.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return;
  const message = `The ${kind} "${twice}" is declared twice.`;
  throw new CallFailure('INVALID_REQUEST', message);
}

/** Says of which thing of the file a failure speaks. */
async function naming(
  kind: string,
  { name }: { readonly name: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const { code, message, fields } = error;
    throw new CallFailure(code, `The ${kind} "${name}": ${message}`, { ...fields });
  }
}
