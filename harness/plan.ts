import assert from 'node:assert/strict';
import pg from 'pg';
import type { Db } from '../src/db/database.ts';
import type { Pipelines, Send } from '../src/db/pipeline.ts';
import type { Value } from '../src/db/value.ts';
import { numbered, watchedSend } from './pipelines.ts';
import { type SentStatement, silentDb } from './silent-db.ts';

/** The number of rows that PostgreSQL reads for a statement, by `explain (analyze)`, which executes it. */

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The generic plan of the only statement with this name that `work` sends. */
export async function rowsOfStatement(
  pipelines: Pipelines,
  name: string,
  work: (send: Send) => Promise<unknown>,
): Promise<number> {
  const sent: { text: string; values: readonly Value[] }[] = [];
  const none = (async () => []) as Send;
  const send = watchedSend(none, (statement) => {
    if (statement.name === name) sent.push(statement);
    return undefined;
  });
  await work(send);
  const [one, ...others] = sent;
  assert.ok(one && others.length === 0, `${name}: sent ${sent.length} times`);
  const values = one.values.length > 0 ? `(${one.values.map(literal).join(', ')})` : '';
  return pipelines.use(async (query) => {
    await query(numbered(`${name}-prepare`, `prepare inspected as ${one.text}`));
    const text = `explain (analyze, format json) execute inspected${values}`;
    const [row] = await query<Record<string, unknown>>(numbered(`${name}-explain`, text));
    await query(numbered(`${name}-deallocate`, 'deallocate inspected'));
    return rowsOf(planIn(row));
  });
}

/** The rows of the only query that `work` sends, for its values. */
export async function rowsOfQuery(db: Db, work: (db: Db) => Promise<unknown>): Promise<number> {
  return rowsOf(await planOf(db, work));
}

/** How often that query looks into a table whose name begins like this. */
export async function scansOfQuery(
  db: Db,
  table: string,
  work: (db: Db) => Promise<unknown>,
): Promise<number> {
  const scansOf = (node: PlanNode): number =>
    (node.Plans ?? []).reduce(
      (sum, one) => sum + scansOf(one),
      node['Relation Name']?.startsWith(table) ? node['Actual Loops'] : 0,
    );
  return scansOf(await planOf(db, work));
}

async function planOf(db: Db, work: (db: Db) => Promise<unknown>): Promise<PlanNode> {
  const sent: SentStatement[] = [];
  await work(silentDb((query) => sent.push(query)));
  const [one, ...others] = sent;
  assert.ok(one && others.length === 0, `sent ${sent.length} times`);
  const text = `explain (analyze, format json) ${one.text}`;
  const { rows } = await db.run<Record<string, unknown>>({ text, values: one.values });
  return planIn(rows[0]);
}

function planIn(row: Record<string, unknown> = {}): PlanNode {
  const [json] = Object.values(row);
  const [plan] = (typeof json === 'string' ? JSON.parse(json) : json) as { Plan: PlanNode }[];
  assert.ok(plan);
  return plan.Plan;
}

function literal(value: Value): string {
  if (value === null || value === undefined) return 'null';
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value));
  // Without a type, like all parameters: PostgreSQL infers it.
  return pg.escapeLiteral(`{${value.map((one) => JSON.stringify(String(one))).join(',')}}`);
}

function rowsOf(node: PlanNode): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const own = (node['Actual Rows'] + removed) * node['Actual Loops'];
  return (node.Plans ?? []).reduce((sum, one) => sum + rowsOf(one), own);
}
