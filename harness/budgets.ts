import type { Budget } from '../src/core/budget/budget.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { freshId } from './fresh-id.ts';
import type { Service } from './service.ts';

/** A budget as admission reads it. */
export function testBudget(budget: Partial<Budget> = {}): Budget {
  return {
    ...{ id: '00000000-0000-7000-8000-000000000001', name: 'Test' },
    workspaceId: '00000000-0000-7000-8000-000000000002',
    ...{ agentIds: null, keys: null, tags: null, per: 'none', period: 'month' },
    ...{ limitUsd: '1', maxTokens: 4_096, thresholds: [50, 80, 100], onUnknown: 'refuse' },
    ...{ createdMs: 0, isFull: false },
    events: { hour: 0, written: 0, withheld: 0, lastWithheld: null },
    ...budget,
  };
}

export interface BudgetOptions {
  readonly name?: string;
  readonly workspaceId?: string;
  readonly agentIds?: readonly string[];
  readonly apiKeyIds?: readonly string[];
  readonly tags?: readonly string[];
  readonly per?: Budget['per'];
  readonly period?: Budget['period'];
  readonly limitUSD: number | string;
  readonly maxTokens?: number;
  readonly onUnknown?: Budget['onUnknown'];
  readonly enabled?: boolean;
}

/** Inserts a budget; returns its stored id. */
export async function addBudget(
  { db, workspaceId: own }: Pick<Service, 'db' | 'workspaceId'>,
  options: BudgetOptions,
): Promise<string> {
  const { workspaceId = own, agentIds, apiKeyIds, tags, per = 'none', period = 'month' } = options;
  const id = freshId();
  const { name = `Budget ${id}`, limitUSD, maxTokens = 4_096, onUnknown = 'refuse' } = options;
  await sql`
    insert into budgets (id, workspace_id, name, agent_ids, api_key_ids, tags, per, period, limit_usd, max_tokens,
      on_unknown, enabled)
    values (${id}, ${workspaceId}, ${name}, ${agentIds}::uuid[], ${apiKeyIds}::uuid[], ${tags}::text[], ${per}, ${period},
      ${String(limitUSD)}, ${maxTokens}, ${onUnknown}, ${options.enabled ?? true})`.execute(db);
  return id;
}

/** Makes the input of a model free, and each output token cost `perToken` US dollars. */
export async function addPrice(
  { db, workspaceId }: Pick<Service, 'db' | 'workspaceId'>,
  { model, perToken }: { readonly model: string; readonly perToken: number },
): Promise<void> {
  const perMillion = String(perToken * 1_000_000);
  await sql`
    insert into prices (workspace_id, model, input_per_million, output_per_million)
    values (${workspaceId}, ${model}, 0, ${perMillion})`.execute(db);
}

/** A window with what is not folded yet. Amounts are decimal texts. */
export interface WindowAmounts {
  readonly bucket: string;
  readonly reserved: string;
  readonly settled: string;
  readonly calls: number;
  readonly unknownCalls: number;
}

export async function windowsOf(db: Db, budgetId: string): Promise<WindowAmounts[]> {
  const { rows } = await sql<WindowAmounts>`
    select w.bucket, trim_scale(w.reserved + coalesce(s.reserved, 0)) as reserved,
      trim_scale(w.settled + coalesce(s.settled, 0)) as settled,
      w.calls + coalesce(s.calls, 0) as calls, w.unknown_calls + coalesce(s.unknown_calls, 0) as unknown_calls
    from budget_windows w left join lateral (
      select sum(delta_reserved) as reserved, sum(delta_settled) as settled, sum(calls) filter (where sent) as calls,
        sum(calls) filter (where unknown) as unknown_calls
      from budget_settlements s where s.budget_id = w.budget_id and s.bucket = w.bucket
        and s.window_start = w.window_start) as s on true
    where w.budget_id = ${budgetId} order by w.bucket, w.window_start`.execute(db);
  return rows;
}
