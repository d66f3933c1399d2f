import type { FakeCall } from '../../harness/fake-provider.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { checkQuietBudgets } from '../budget-checks.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { runToolExecutions, turnUsd } from '../tool-executions.ts';

/**
 * The same executions as those of `tool-once`, under a budget with room for everything. The provider keeps the calls of each turn, to compare with
 * when the turn was committed. Meanwhile the definitions of the server change.
 */
export const turnsNotPaidTwice: Claim = {
  name: 'turns-not-paid-twice',
  description:
    'A turn of a model that was committed is never called again, and its tokens and its cost count once, in budgets too',
  rounds: { test: 2, short: 16, full: 200 },
  roundsPerEnvironment: 50,
  faults: [
    {
      name: 'forgotten-turns',
      description: 'an execution that is claimed again does not read its steps',
      file: 'engine/run/execute.ts',
      find: 'const found = turns ? await toolLoop.reads.turns(id) : [];',
      replace: 'const found = turns ? (await toolLoop.reads.turns(id)).slice(0, -1) : [];',
    },
    {
      name: 'uncounted-turns',
      description: 'a turn does not add its tokens to what the execution has spent',
      file: 'engine/tools/step-writes.ts',
      find: 'q.spent_input_tokens::bigint + h.input_tokens',
      replace: 'q.spent_input_tokens::bigint',
    },
    {
      name: 'unreserved-turns',
      description: 'only the first turn is reserved in budgets',
      file: 'engine/tools/tool-loop.ts',
      find: 'mustReserve: mustReserve || reservedUsd !== null,',
      replace: 'mustReserve: false,',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { faults, accepted, violations } = await runToolExecutions(environment, {
    ...{ rounds, strikes: ['killed', 'killed', 'cut'], budget: true },
  });
  const { db, provider } = environment;
  return {
    counts: { accepted, 'calls of the model': provider.calls.length, ...faults },
    violations: [
      ...violations,
      ...(await checkRepeated(db, provider.calls)),
      ...(await checkTokens(db)),
      ...(await checkQuietBudgets(db, 2 * turnUsd)),
      ...changedDefinitions(provider.calls),
    ],
  };
}

/** Each execution has a text of its own, and each turn one answer more. */
async function checkRepeated(db: Db, calls: readonly FakeCall[]): Promise<string[]> {
  const { rows } = await sql<{ text: string; n: number; at: number }>`
    select e.input_variables ->> 'text' as text, s.n,
      (extract(epoch from s.created_at) * 1000)::float8 as at
    from execution_steps s join executions e on e.id = s.execution_id where s.part = 0`.execute(db);
  const committed = new Map(rows.map(({ text, n, at }) => [`${text} ${n}`, at]));
  return calls.flatMap(({ body, epochMs }) => {
    const [first] = body.messages;
    const n = 1 + body.messages.filter(({ role }: { role: string }) => role === 'assistant').length;
    const at = committed.get(`${first?.content} ${n}`);
    return at !== undefined && epochMs > at + clockMs
      ? [`${first?.content}: turn ${n} was called again after it was committed`]
      : [];
  });
}

/** What the model was told of a tool other than its version says: its name. */
function changedDefinitions(calls: readonly FakeCall[]): string[] {
  const tools = calls.flatMap(({ body }) => body.tools ?? []);
  const told = tools.map(
    (tool: { function: Record<'name' | 'description', string> }) => tool.function,
  );
  const changed = told.filter(({ name, description }) => name !== description);
  return [...new Set(changed.map(({ description }) => `the model was told "${description}"`))];
}

/** Of both clocks: this process reads its own in whole milliseconds. */
const clockMs = 2;

/** The tokens of a record are those of its turns, and of attempts that failed. An answer beyond a limit is both. */
async function checkTokens(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select e.id from executions e
    where e.input_tokens <> (select coalesce(sum(s.input_tokens), 0) from execution_steps s
      where s.execution_id = e.id and s.part = 0) + (
      select coalesce(sum((a ->> 'inputTokens')::int), 0) from jsonb_array_elements(e.attempt_list) a
      where a ->> 'errorCode' <> 'TOOL_LIMIT')`.execute(db);
  return rows.map(({ id }) => `${id}: its tokens are not those of its turns`);
}
